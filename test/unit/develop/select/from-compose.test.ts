import { describe, expect, test } from 'vitest'
import { UserError } from '../../../../compiler/diagnostics/user-error.ts'
import { plainDevelopment } from '../../../../compiler/manifest/dev.ts'
import type { Development } from '../../../../compiler/manifest/development.ts'
import { candidatesOf } from '../../../../develop/select/candidates.ts'
import { declaredCandidate, developmentOf, withHostVolumes } from '../../../../develop/select/from-compose.ts'
import { planOf } from '../../../support/plan/compose.ts'

const files = { Dockerfile: 'FROM node:22\nCOPY . /app\n', 'src/index.js': '', 'package.json': '{}' }

function develop(services: string) {
  const { project, plan, host } = planOf(`services:\n${services}`, {}, files)
  const [candidate] = candidatesOf(project, host)
  return developmentOf(candidate!, project, plan, host)
}

const caught = (run: () => unknown): UserError => {
  try {
    run()
  } catch (error) {
    if (error instanceof UserError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

const message = (run: () => unknown): string => {
  const { message, notes, hint } = caught(run)
  return [message, ...notes, hint].join('\n')
}

describe('the development container of a service', () => {
  test('developmentOf names the container of a service that is a sidecar of another one', () => {
    const { development } = develop(
      `  app: {image: pause}
  db: {build: ., volumes: [".:/app"], network_mode: "service:app", healthcheck: {test: "true"}}
  web: {image: nginx, network_mode: "service:app", depends_on: {db: {condition: service_healthy}}}
`,
    )
    expect(development.container?.value).toBe('db')
    expect(development.selector.at(-1)?.value).toBe('app')
  })

  test('developmentOf synchronizes folders, forwards published ports and runs the own command', () => {
    const { development, folders, runsService, notes } = develop(
      '  Web_App: {build: ., volumes: [".:/app", "/app/node_modules"], ports: ["8080:80", "9229:9229", "5000", "53:53/udp", "7000-7001:7000-7001"]}\n',
    )
    expect(development.name).toBe('web-app')
    expect(development.command).toBeUndefined()
    expect(runsService).toBe(true)
    expect(development.sync).toMatchObject({
      folders: [{ local: '/project', remote: '/app' }],
      compression: true,
      rescanInterval: 300,
    })
    expect(folders.map(({ excluded }) => excluded)).toEqual([['node_modules']])
    expect(development.forward.map(({ localPort, remotePort, service }) => [localPort, remotePort, service])).toEqual([
      [8080, 80, undefined],
      [9229, 9229, undefined],
      [5000, 5000, undefined],
      [7000, 7000, undefined],
      [7001, 7001, undefined],
    ])
    expect(development.container?.value).toBe('web-app')
    expect(Object.fromEntries(development.selector.map(({ name, value }) => [name, value]))).toEqual({
      'dev.platform/environment': 'app',
      'dev.platform/service': 'web-app',
    })
    expect(notes).toEqual([])
  })

  test.each([
    ['a host volume', 'volumes: [".:/app", "./src:/run/devctl/src"]', '`/run/devctl/src` is a folder of devctl'],
    [
      'a watch rule',
      'develop: {watch: [{action: sync, path: src, target: /proc/x}]}',
      '`/proc/x` is a folder of the system',
    ],
  ])('developmentOf refuses %s with a target in a folder of the system or of devctl', (_, keys, text) => {
    const error = caught(() => develop(`  web: {build: ., ${keys}}\n`))
    expect(error.message).toBe(text)
    expect(error.hint).toBe('choose another path')
    const span = error.place!
    expect(span.file.text.slice(span.start, span.end)).toMatch(/\/run\/devctl\/src|target: \/proc\/x/)
  })

  test('a development container of a service has the defaults of `dev`', () => {
    const { development } = develop('  web: {build: ., volumes: [".:/app"]}\n')
    const { sync: _, selector: __, forward: ___, container: ____, imagePullPolicy: _____, ...rest } = development
    const {
      sync: _a,
      selector: _b,
      forward: _c,
      container: _d,
      imagePullPolicy: _e,
      ...plain
    } = plainDevelopment('web', development.span)
    expect(rest).toEqual(plain)
    expect(plain).toMatchObject({ mode: 'sync', persistentVolume: { enabled: true, size: '5Gi' }, sshServerPort: 2222 })
  })

  test('a service in the Pod of another one is developed in the shared workload', () => {
    const { development } = develop(
      '  web: {build: ., volumes: [".:/app"], network_mode: "service:proxy"}\n  proxy: {image: nginx}\n',
    )
    const selector = Object.fromEntries(development.selector.map(({ name, value }) => [name, value]))
    expect([development.name, development.container?.value, selector['dev.platform/service']]).toEqual([
      'web',
      'web',
      'proxy',
    ])
  })

  test('developmentOf notes a folder that is not synchronized, with its position', () => {
    const { notes } = develop(
      '  web:\n    build: .\n    volumes: [".:/app"]\n    develop:\n      watch:\n        - {path: ./none, action: sync, target: /none}\n',
    )
    expect(notes).toEqual(['compose.yaml:7:18: `/project/none` does not exist and is not synchronized'])
  })

  test('a development container has the actions of its watch rules', () => {
    const { actions } = develop(`  web:
    build: .
    develop:
      watch:
        - {path: ./src, action: sync, target: /app/src}
        - {path: ./src, action: sync+exec, target: /app/src, exec: {command: npm run build, user: node, working_dir: /app, environment: {A: b}}}
        - {path: ./package.json, action: rebuild}
        - {path: ./src, action: restart, ignore: ["*.md"]}
`)
    expect(
      actions.map(({ action, patterns, exec }) => [action, patterns.path, exec?.command.words, exec?.user?.value]),
    ).toEqual([
      ['sync+exec', '/project/src', ['npm', 'run', 'build'], 'node'],
      ['rebuild', '/project/package.json', undefined, undefined],
      ['restart', '/project/src', undefined, undefined],
    ])
  })

  test('developmentOf notes the keys of `exec` that do not apply', () => {
    const watch = (exec: string, more = '') =>
      develop(`  web:
    build: .${more}
    develop:
      watch:
        - {path: ./src, action: sync+exec, target: /app, exec: {command: make, ${exec}}}
`).notes
    expect(watch('user: node, privileged: true')).toEqual([
      'compose.yaml:6:86: the command runs as the user of the container, not as `node`',
      'compose.yaml:6:64: the command runs with the rights of the container, and is not privileged',
    ])
    expect(watch('user: node, privileged: false', '\n    user: node').length).toBe(0)
  })

  test('a watch rule that rebuilds a service without `build` is an error', () => {
    const watch = (image: string, rule: string) =>
      message(() => develop(`  web:\n    ${image}\n    volumes: [".:/app"]\n    develop: {watch: [${rule}]}\n`))
    expect(watch('image: node', '{path: ./src, action: rebuild}')).toBe(
      'service `web` has a watch rule with the action `rebuild`, and no `build`\ncompose.yaml:5:45\nadd `build` to the service, or write `action: sync+restart` with a `target`',
    )
  })
})

describe('`dev` without `sync`', () => {
  const { project, host } = planOf(
    'services:\n  web_app: {build: ., volumes: ["./src:/app/src"]}\n  db: {image: postgres}\n',
    {},
    files,
  )
  const span = project.services.get('db')!.span
  const dev = (name: string, container?: string) => ({
    ...plainDevelopment(name, span),
    ...(container !== undefined && { container: { value: container, span } }),
  })

  const ofDeclared = (one: Development) => withHostVolumes(one, declaredCandidate(one, project, host), project, host)

  test('`dev` without `sync` uses the host volumes of its service, and keeps the rest', () => {
    for (const one of [dev('web-app'), dev('other', 'web-app'), dev('other', 'web_app')]) {
      const found = ofDeclared({ ...one, command: ['bash'] })
      expect(found.development.sync?.folders).toMatchObject([{ local: '/project/src', remote: '/app/src' }])
      expect(found.development.command).toEqual(['bash'])
      expect(found.runsService).toBe(false)
      expect(found.development.forward).toEqual([])
    }
  })

  test('`dev` without `sync` is an error if no service has its name or the service has no folder', () => {
    expect(message(() => ofDeclared(dev('api')))).toMatch(
      /^development container `api` has no `sync`, and no service has its name\n.*compose.yaml:3:3\nadd `sync: /,
    )
    expect(message(() => ofDeclared(dev('db')))).toMatch(/^service `db` has no folder/)
  })
})
