import { describe, expect, test } from 'vitest'
import { compile } from '../../../../compiler/index.ts'
import { memoryHost, planOf } from '../../../support/plan/compose.ts'

const member = (keys: string, options = {}, files = {}, lead = 'image: m') =>
  planOf(`services: {main: {${lead}}, job: {${keys}}}`, options, files)
const onceOf = (keys: string, options = {}, files = {}) =>
  member(keys, options, files)
    .pod('main')
    .containers.find(({ name }) => name === 'job')?.once

const shared = 'network_mode: "service:main"'
const toolsImage = 'busybox:1.37'

describe('a service in the Pod of another one', () => {
  test.each([
    ['without a restart policy may fail a few times', '', 5],
    ['with the policy no runs once', ', restart: "no"', 0],
    ['with the condition none runs once', ', deploy: {restart_policy: {condition: none}}', 0],
    ['may fail as often as it says', ', restart: "on-failure:3"', 3],
    ['may fail without limit', ', restart: on-failure', undefined],
  ])('a service in the Pod of another one %s', (_, policy, retries) => {
    for (const sharing of [shared, 'pid: "service:main"', 'ipc: "service:main"']) {
      const keys = `image: i, command: [sh, -c, "true"], ${sharing}${policy}`
      expect(onceOf(keys)).toEqual({ toolsImage, ...(retries !== undefined && { retries }) })
      expect(member(keys).codes).toEqual([])
    }
  })

  const image = { imageConfigs: new Map([['job', { Entrypoint: ['/run'], Cmd: ['all'] }]]) }
  const dockerfile = { Dockerfile: 'FROM x\nENTRYPOINT ["/run"]\nCMD ["all"]' }

  test.each([
    ['its entrypoint', 'image: i, entrypoint: [migrate], command: [up]', {}, {}, undefined],
    ['a command with a path', 'image: i, command: [/bin/migrate]', {}, {}, undefined],
    ['a cleared entrypoint', 'image: i, entrypoint: [], command: [migrate]', {}, {}, undefined],
    ['the image', 'image: i', image, {}, { entrypoint: ['/run'], cmd: ['all'] }],
    ['the entrypoint of the image', 'image: i, command: [one]', image, {}, { entrypoint: ['/run'] }],
    ['the Dockerfile', 'build: .', {}, dockerfile, { entrypoint: ['/run'], cmd: ['all'] }],
    ['the entrypoint of the Dockerfile', 'build: ., command: [one]', {}, dockerfile, { entrypoint: ['/run'] }],
  ])('a service that runs once has the program of %s', (_, keys, options, files, ofImage) => {
    expect(onceOf(`${keys}, ${shared}`, options, files)).toEqual({ toolsImage, retries: 5, ...ofImage })
  })

  test('the healthcheck of its image does not make a member with a policy a server', () => {
    const Dockerfile = 'FROM x\nENTRYPOINT ["/run"]\nHEALTHCHECK CMD check'
    const keys = `build: ., restart: "no", ${shared}`
    expect(onceOf(keys, {}, { Dockerfile })).toEqual({ toolsImage, entrypoint: ['/run'], retries: 0 })
    expect(member(keys, {}, { Dockerfile }).codes).toEqual([])
    // Without a policy, the healthcheck says that it is a server.
    expect(onceOf(`build: ., ${shared}`, {}, { Dockerfile })).toBeUndefined()
  })

  test.each([
    ['its policy is always', 'image: i, command: [sh], restart: always'],
    ['its policy is unless-stopped', 'image: i, command: [sh], restart: unless-stopped'],
    ['it only limits its restarts', 'image: i, command: [sh], deploy: {restart_policy: {max_attempts: 3}}'],
    ['it may be a server', 'image: i, command: [sh], expose: ["80"]'],
    ['it never ends', 'image: i, command: sleep infinity'],
    ['it never ends either', 'image: i, entrypoint: tail -f /dev/null'],
    ['it follows a file', 'image: i, command: tail -f /dev/null'],
    ['it shows processes', 'image: i, command: top'],
    ['it is checked', 'image: i, command: [sh], healthcheck: {test: "true"}'],
    ['its program is not known', 'image: i'],
    ['its command is options', 'image: i, command: [--tunnel, run]'],
    ['the base image has its program', 'build: .', { Dockerfile: 'FROM x\nCMD ["sh"]' }],
  ] as const)('a member of a Pod is restarted if %s', (_, keys, files: Readonly<Record<string, string>> = {}) => {
    expect(onceOf(`${keys}, ${shared}`, {}, files)).toBeUndefined()
    expect(member(`${keys}, ${shared}`, {}, files).codes).toEqual([])
  })

  test('a command that may be the arguments of an unknown program is reported, unless the registry was asked', () => {
    const keys = `image: i, command: [tunnel, run], ${shared}`
    expect(onceOf(keys)).toBeUndefined()
    expect(member(keys).diagnostics.map(({ code, hint }) => [code, hint])).toEqual([
      [
        'restart/unknown-program',
        'set `entrypoint` to the program that its image starts; `command` stays its arguments; without it, `deploy` asks the registry; for a server, write `restart: always`',
      ],
    ])
    expect(member(keys, { forRepository: true }).diagnostics[0]?.hint).not.toContain('deploy')
    expect(member(keys, { imagePrograms: new Map() }).codes).toEqual([])
    expect(member(`${keys}, restart: always`).codes).toEqual([])
    expect(member(`${keys}, entrypoint: [cloudflared]`).codes).toEqual([])
  })

  test('a restart policy that cannot be kept is reported with a hint', () => {
    const { diagnostics } = member(`image: i, restart: "no", ${shared}`)
    expect(diagnostics.map(({ code, hint }) => [code, hint])).toEqual([
      [
        'restart/ignored',
        'set `entrypoint` to the program that its image starts, with its arguments; without it, `deploy` asks the registry',
      ],
    ])
    const published = member(`image: i, restart: "no", ${shared}`, { forRepository: true })
    expect(published.diagnostics.map(({ hint }) => hint)).toEqual([
      'set `entrypoint` to the program that its image starts, with its arguments',
    ])
    const withArguments = member(`image: i, restart: "no", command: [migrate], ${shared}`)
    expect(withArguments.diagnostics.map(({ hint }) => hint)).toEqual([
      'set `entrypoint` to the program that its image starts; `command` stays its arguments; without it, `deploy` asks the registry',
    ])
    const help = member(`image: i, restart: "no", entrypoint: [run], ${shared}`)
    expect(help.codes).toEqual([])
    const checked = (more: string) =>
      member(`image: i, restart: "no"${more}, healthcheck: {test: "true"}, ${shared}`).diagnostics.map(
        ({ code, hint }) => `${code}: ${hint}`,
      )
    expect(checked(', command: [sh]')).toEqual([
      'restart/ignored: remove `healthcheck`, with which it counts as a server',
    ])
    expect(checked('')).toEqual([
      'restart/ignored: remove `healthcheck`, with which it counts as a server, and set `entrypoint` to the program that its image starts, with its arguments',
    ])
  })

  const run = { entrypoint: ['/run'] }
  const all = { ...run, cmd: ['all'] }

  test.each([
    ['with arguments', 'image: i, command: [migrate]', run, 5],
    ['with the policy no', 'image: i, restart: "no"', all, 0],
    ['with the policy no and arguments', 'image: i, restart: "no", command: [migrate]', run, 0],
    ['with the condition none', 'image: i, deploy: {restart_policy: {condition: none}}', all, 0],
    ['with the policy on-failure', 'image: i, restart: on-failure', all, undefined],
    ['with a policy and a port', 'image: i, restart: "no", expose: ["80"]', all, 0],
    ['whose base image has its program', 'build: ., restart: "no"', all, 0],
  ])(
    'the plan names a member %s whose program is unknown, and it runs once when it is known',
    (_, keys, ofImage, retries) => {
      const imagePrograms = new Map([['job', { Entrypoint: ['/run'], Cmd: ['all'] }]])
      const files = { Dockerfile: 'FROM x' }
      for (const sharing of [shared, 'pid: "service:main"', 'ipc: "service:main"']) {
        expect(member(`${keys}, ${sharing}`, {}, files).plan.unknownPrograms).toEqual(['job'])
        const { plan, codes } = member(`${keys}, ${sharing}`, { imagePrograms }, files)
        expect(plan.unknownPrograms).toEqual([])
        expect(codes).toEqual([])
        const once = { toolsImage, ...ofImage, ...(retries !== undefined && { retries }) }
        expect(onceOf(`${keys}, ${sharing}`, { imagePrograms }, files)).toEqual(once)
      }
    },
  )

  test.each([
    ['may be a server', `image: i, ${shared}`],
    ['has a port', `image: i, command: [serve], expose: ["80"], ${shared}`],
    ['has a healthcheck', `image: i, restart: "no", healthcheck: {test: "true"}, ${shared}`],
    ['is always restarted', `image: i, command: [serve], restart: always, ${shared}`],
    ['only limits its restarts', `image: i, command: [a], deploy: {restart_policy: {max_attempts: 3}}, ${shared}`],
    ['has a known program', `image: i, command: [sh], restart: "no", ${shared}`],
    ['has an entrypoint', `image: i, entrypoint: [run], restart: "no", ${shared}`],
    ['is a Job of its own', 'image: i, command: [migrate], restart: "no"'],
  ])('the plan names no program of a service that %s', (_, keys) => {
    expect(member(keys).plan.unknownPrograms).toEqual([])
  })

  test('the plan names no program in the Pod of a Job', () => {
    const job = member(`image: i, command: [a], ${shared}`, {}, {}, 'image: m, restart: "no"')
    expect(job.plan.unknownPrograms).toEqual([])
  })

  test('an asked registry that says nothing about a program is not named by the hint', () => {
    const { diagnostics } = member(`image: i, restart: "no", ${shared}`, { imagePrograms: new Map() })
    expect(diagnostics.map(({ code, hint }) => [code, hint])).toEqual([
      ['restart/ignored', 'set `entrypoint` to the program that its image starts, with its arguments'],
    ])
  })

  test('nothing but the program of an asked image is used', () => {
    const config = { Entrypoint: ['/run'], User: '7', ExposedPorts: { '80/tcp': {} }, Volumes: { '/data': {} } }
    const keys = `image: i, restart: "no", ${shared}`
    const { plan, codes } = member(keys, { imagePrograms: new Map([['job', config]]), policy: 'restricted' })
    const program = { imagePrograms: new Map([['job', { Entrypoint: ['/run'] }]]), policy: 'restricted' }
    expect([plan.workloads, codes]).toEqual([member(keys, program).plan.workloads, member(keys, program).codes])
  })

  test('a one-shot runs once as soon as the configuration of its image is known', () => {
    const text = `services: {main: {image: m}, job: {build: ., restart: "no", ${shared}}}`
    const options = { workingDirectory: '/project', name: 'app', registry: 'registry.example.com' }
    const first = compile(options, memoryHost({ 'compose.yaml': text, Dockerfile: 'FROM x' }))
    expect(first.diagnostics.map(({ code }) => code)).toContain('restart/ignored')
    const known = first.withImages!({ configs: new Map([['job', { Entrypoint: ['/run'], Cmd: ['all'] }]]) })
    expect(known.diagnostics.map(({ code }) => code)).not.toContain('restart/ignored')
    const { containers } = known.plan!.workloads[0]!.pod
    expect(containers.find(({ name }) => name === 'job')?.once).toEqual({
      toolsImage,
      retries: 0,
      entrypoint: ['/run'],
      cmd: ['all'],
    })
  })

  test('`once` is set on every node, but not in the Pod of a Job', () => {
    const keys = `image: i, command: [sh], ${shared}`
    expect(member(keys, {}, {}, 'image: m, restart: "no"').pod('main').containers[1]).not.toHaveProperty('once')
    const { pod } = member(keys, {}, {}, 'image: m, deploy: {mode: global}')
    expect(pod('main').containers[1]).toHaveProperty('once')
  })

  test.each([
    ['network_mode: "service:main"', 'remove `network_mode: service:main` from `job`, which makes it a Job'],
    ['network_mode: "service:main", restart: "no"', 'remove `network_mode: service:main` from `job`, which makes'],
    ['network_mode: "service:main", restart: on-failure:2', 'remove `network_mode: service:main` from `job`, which'],
    ['pid: "container:m"', 'remove `pid: container:m` from `job`, which makes it a Job'],
    [
      'network_mode: "service:main", ipc: "service:main", restart: always',
      'remove `network_mode: service:main` and `ipc: service:main` from `job` and write `restart: "no"`, which makes it a Job',
    ],
    [
      'network_mode: "service:main", deploy: {restart_policy: {max_attempts: 3}}',
      'remove `network_mode: service:main` from `job` and write `restart: "no"`, which makes it a Job',
    ],
  ])('waiting for the completion of a member is an error with a hint that solves it: %s', (joins, hint) => {
    const text = (job: string) =>
      planOf(
        `services: {main: {image: m, container_name: m}, job: {image: i, command: [sh]${job}}, web: {image: w, depends_on: {job: {condition: service_completed_successfully}}}}`,
      )
    const { codes, diagnostics } = text(`, ${joins}`)
    const error = diagnostics.find(({ code }) => code === 'depends-on/not-a-job')
    expect(codes).toContain('depends-on/not-a-job')
    expect(error?.hint).toContain(hint)
    const isNetwork = joins.includes('network_mode')
    expect(error?.hint?.endsWith('; it reaches `main` by its name instead of `localhost`')).toBe(isNetwork)
    expect(error?.related?.[0]?.message).toMatch(/^`\w+` puts it into the Pod here$/)
    for (const policy of ['', ', restart: "no"', ', restart: on-failure:2'])
      expect(text(`, depends_on: [main]${policy}`).codes).not.toContain('depends-on/not-a-job')
  })
})
