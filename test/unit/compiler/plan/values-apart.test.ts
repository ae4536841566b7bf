import { describe, expect, test } from 'vitest'
import { compile } from '../../../../compiler/index.ts'
import type { PlanOptions } from '../../../../compiler/options.ts'
import { memoryHost } from '../../../support/plan/compose.ts'
import { at, span } from '../../../support/plan/project.ts'

const PASSWORD = 'canary+one'
const variables = { DB_PASSWORD: PASSWORD, LEVEL: 'canary two', TAG: 'canary-3', EMPTY: '' }

/** Compiles as for a platform, whose variables these are. */
function compiled(text: string, options: PlanOptions = {}, files: Readonly<Record<string, string>> = {}) {
  const given = { name: 'app', namespace: 'shop', domain: 'dev.example.com', workingDirectory: '/project' }
  const host = memoryHost({ 'compose.yaml': text, ...files })
  const platform = new Map(Object.entries(variables))
  const variable = (name: string) =>
    platform.has(name) ? ({ value: platform.get(name)!, source: 'platform' } as const) : undefined
  const { plan, diagnostics } = compile(
    { ...given, valuesApart: true, includeSecrets: true, ...options },
    { ...host, variable },
  )
  const dataOf = (name: string) =>
    Object.fromEntries(
      Object.entries(plan?.secrets.find(one => one.name === name)?.data ?? {}).map(([key, bytes]) => [
        key,
        new TextDecoder().decode(bytes),
      ]),
    )
  const pod = plan?.workloads[0]?.pod
  const open = JSON.stringify({ ...plan, secrets: [] }, (key, value) => (key === 'span' ? undefined : value))
  return { plan, diagnostics, codes: diagnostics.map(({ code }) => code), dataOf, pod, open }
}

test('a config with a value and a secret with a similar key are two objects', () => {
  const { plan, codes, dataOf } = compiled(
    `services:
  web: {image: nginx, configs: [app], secrets: [app-config]}
configs: {app: {content: "pw=\${DB_PASSWORD}"}}
secrets: {app-config: {file: ./s.txt}}
`,
    {},
    { 's.txt': 'file' },
  )
  expect(codes.filter(code => !code.startsWith('ports/'))).toEqual([])
  const [config] = plan!.secrets.map(({ name }) => name).filter(name => name !== 'app-app-config')
  expect(config).toMatch(/^app-app-config-[0-9a-z]{5}$/)
  expect(dataOf('app-app-config')).toEqual({ 'app-config': 'file' })
  expect(dataOf(config!)).toEqual({ app: `pw=${PASSWORD}` })
})

describe('values of a platform', () => {
  test('values of variables are in the Secret of the service, alone and in URLs; others are not', () => {
    const { pod, dataOf, open, codes } = compiled(
      `services:
  web:
    image: nginx
    environment:
      - DB_PASSWORD
      - URL=postgres://app:\${DB_PASSWORD}@db/app?level=\${LEVEL}
      - PLAIN=debug
      - EMPTY=\${EMPTY}
    env_file: web.env
`,
      {},
      { 'web.env': 'FROM_FILE=${LEVEL}\nOWN=two\n' },
    )
    expect(codes.filter(code => !code.startsWith('ports/'))).toEqual([])
    const secret = (key: string) => ({ name: key, secret: { name: 'app-web-values', key } })
    expect(pod?.containers[0]?.env).toEqual([
      secret('DB_PASSWORD'),
      { name: 'EMPTY', value: '' },
      secret('FROM_FILE'),
      { name: 'OWN', value: 'two' },
      { name: 'PLAIN', value: 'debug' },
      secret('URL'),
    ])
    expect(dataOf('app-web-values')).toEqual({
      DB_PASSWORD: PASSWORD,
      FROM_FILE: 'canary two',
      URL: `postgres://app:${PASSWORD}@db/app?level=canary two`,
    })
    expect(open).not.toContain('canary')
  })

  test.each(['[DB_PASSWORD, LEVEL]', '{DB_PASSWORD: , LEVEL: }', '{DB_PASSWORD: null, LEVEL: ~}'])(
    'values of variables that are named without a value are in the Secret: %s',
    environment => {
      const { pod, open } = compiled(`services: {web: {image: nginx, environment: ${environment}}}`)
      const secret = (key: string) => ({ name: key, secret: { name: 'app-web-values', key } })
      expect(pod?.containers[0]?.env).toEqual([secret('DB_PASSWORD'), secret('LEVEL')])
      expect(open).not.toContain('canary')
    },
  )

  test('values in a command become references to variables, word by word', () => {
    const { pod, dataOf, open } = compiled(`services:
  web:
    image: nginx
    entrypoint: ["run", "--password=\${DB_PASSWORD}"]
    command: serve --level \${LEVEL} $$(HOME)
`)
    const [container] = pod?.containers ?? []
    expect(container?.command).toEqual(['run', '$(DEVCTL_ENTRYPOINT_2)'])
    // A text is split after its variables are replaced, as in Compose.
    expect(container?.args).toEqual(['serve', '--level', '$(DEVCTL_COMMAND_3)', '$(DEVCTL_COMMAND_4)', '$(HOME)'])
    expect(dataOf('app-web-values')).toEqual({
      DEVCTL_COMMAND_3: 'canary',
      DEVCTL_COMMAND_4: 'two',
      DEVCTL_ENTRYPOINT_2: `--password=${PASSWORD}`,
    })
    expect(open).not.toContain('canary')
  })

  test('values in healthchecks and hooks are in a script that a shell takes from a variable', () => {
    const { pod, dataOf, open } = compiled(`services:
  web:
    image: nginx
    healthcheck: {test: ["CMD", "ping", "-p", "it's \${DB_PASSWORD}"]}
    post_start: [{command: "tell \${DB_PASSWORD}"}]
    pre_stop: [{command: "quit", environment: {LEVEL: "\${LEVEL}"}}]
    pre_start: [{command: "migrate \${DB_PASSWORD}", environment: {LEVEL: "\${LEVEL}"}}]
`)
    const [container] = pod?.containers ?? []
    const from = (name: string) => ['/bin/sh', '-c', `eval "$${name}"`]
    expect(container?.readinessProbe?.check).toEqual({ kind: 'exec', command: from('DEVCTL_HEALTHCHECK') })
    expect(container?.postStart).toEqual(from('DEVCTL_POST_START'))
    expect(container?.preStop).toEqual(from('DEVCTL_PRE_STOP'))
    expect(pod?.init[0]?.args).toEqual(['migrate', '$(DEVCTL_COMMAND_2)'])
    expect(dataOf('app-web-values')).toEqual({
      DEVCTL_HEALTHCHECK: `exec ping -p 'it'\\''s ${PASSWORD}'`,
      DEVCTL_POST_START: `tell ${PASSWORD}`,
      DEVCTL_PRE_STOP: `env 'LEVEL=canary two' quit`,
      'pre_start-0-DEVCTL_COMMAND_2': PASSWORD,
      'pre_start-0-LEVEL': 'canary two',
    })
    expect(open).not.toContain('canary')
  })

  test('values in a config make it a Secret, mounted at the same place', () => {
    const { pod, plan, dataOf, open, codes } = compiled(`services:
  web: {image: nginx, configs: [site, level, plain]}
configs:
  site: {content: "password = \${DB_PASSWORD}"}
  level: {environment: LEVEL}
  plain: {content: "nothing"}
`)
    expect(codes).toEqual([])
    expect(plan?.configMaps.map(({ name }) => name)).toEqual([expect.stringMatching(/^app-plain-/)])
    expect([dataOf('app-site-config'), dataOf('app-level-config')]).toEqual([
      { site: `password = ${PASSWORD}` },
      { level: 'canary two' },
    ])
    expect(pod?.containers[0]?.mounts.map(({ path }) => path).sort()).toEqual(['/level', '/plain', '/site'])
    expect(open).not.toContain('canary')
  })

  test('values are refused in labels and images if their names say that they are secret', () => {
    const text = (name: string) => `services:
  web:
    image: nginx:\${${name}}
    hostname: h\${${name}}
    labels: {build: "\${${name}}"}
`
    const refused = compiled(text('DB_PASSWORD').replace('hostname: h${DB_PASSWORD}', 'user: "1"'))
    expect(refused.codes.filter(code => code === 'secrets/shown-to-viewers')).toHaveLength(2)
    const { message, hint } = refused.diagnostics.find(({ code }) => code === 'secrets/shown-to-viewers')!
    expect(message).toBe(
      '`services.web.image` contains the secret value of `DB_PASSWORD`, which everybody who sees the namespace could read',
    )
    expect(hint).toContain('    secrets:\n      public:\n        - services.web.image')
    const accepted = compiled(text('TAG'))
    expect(accepted.codes).not.toContain('secrets/shown-to-viewers')
    expect(accepted.plan?.images.get('web')).toBe('nginx:canary-3')
  })

  test('values stay where they are listed as public, or come from the Secret of their rule', () => {
    const rules = {
      backend: 'reference' as const,
      storeKind: 'SecretStore' as const,
      store: at('vault'),
      values: new Map([['services.web.environment.DB_PASSWORD', { secret: at('own'), key: at('password'), span }]]),
      public: [at('services.web.environment.LEVEL')],
      age: [],
    }
    const { pod, plan } = compiled(
      'services: {web: {image: nginx, environment: {DB_PASSWORD: "${DB_PASSWORD}", LEVEL: "${LEVEL}"}}}',
      { secretRules: rules },
    )
    expect(pod?.containers[0]?.env).toEqual([
      { name: 'DB_PASSWORD', secret: { name: 'own', key: 'password' } },
      { name: 'LEVEL', value: 'canary two' },
    ])
    expect(plan?.secrets).toEqual([])
  })

  test('values are plain if they are not kept apart', () => {
    const { pod, plan } = compiled('services: {web: {image: nginx, environment: ["LEVEL=${LEVEL}"]}}', {
      valuesApart: false,
    })
    expect(pod?.containers[0]?.env).toEqual([{ name: 'LEVEL', value: 'canary two' }])
    expect(plan?.secrets).toEqual([])
  })
})
