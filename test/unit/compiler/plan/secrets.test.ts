import { describe, expect, test } from 'vitest'
import { renderAnnotations } from '../../../../compiler/diagnostics/render/github.ts'
import { diagnosticsToJson } from '../../../../compiler/diagnostics/render/json.ts'
import { diagnosticsToSarif } from '../../../../compiler/diagnostics/render/sarif.ts'
import { renderDiagnostics } from '../../../../compiler/diagnostics/render/text.ts'
import { compile } from '../../../../compiler/index.ts'
import type { PlanOptions, SecretRules } from '../../../../compiler/options.ts'
import { memoryHost } from '../../../support/plan/compose.ts'
import { at, span } from '../../../support/plan/project.ts'

type Values = Readonly<Record<string, readonly [secret: string, key: string]>>

function rules(values: Values, more: Partial<SecretRules> = {}): SecretRules {
  const entries = Object.entries(values).map(
    ([path, [secret, key]]) => [path, { secret: at(secret), key: at(key), span }] as const,
  )
  return {
    backend: 'reference',
    storeKind: 'SecretStore',
    store: at('vault'),
    values: new Map(entries),
    public: [],
    age: [],
    ...more,
  }
}

function compiled(text: string, options: PlanOptions, files: Readonly<Record<string, string>> = {}) {
  const given = { name: 'app', namespace: 'shop', domain: 'dev.example.com', workingDirectory: '/project', ...options }
  return compile(given, memoryHost({ 'compose.yaml': text, ...files }))
}

const compose = `
services:
  db:
    image: postgres:17
    environment:
      POSTGRES_PASSWORD: \${DB_PASSWORD:?set it}
      REPLICATION_TOKEN:
    secrets: [token, license]
secrets:
  token: {file: ./token.txt}
  license: {external: true, name: team-license}
`
const mapped: Values = {
  'services.db.environment.POSTGRES_PASSWORD': ['shop-db', 'password'],
  'services.db.environment.REPLICATION_TOKEN': ['shop-db', 'token'],
  'secrets.token': ['shop-token', 'token'],
}

describe('Secrets that the cluster must have', () => {
  test('requiredSecrets has the Secrets of the rules and external Secrets, sorted', () => {
    const { plan, diagnostics } = compiled(compose, { secretRules: rules(mapped) })
    expect(diagnostics.map(({ code }) => code)).toEqual([])
    expect(plan?.requiredSecrets).toMatchObject([
      { secret: 'shop-db', key: 'password', usedBy: 'services.db.environment.POSTGRES_PASSWORD' },
      { secret: 'shop-db', key: 'token', usedBy: 'services.db.environment.REPLICATION_TOKEN' },
      { secret: 'shop-token', key: 'token', usedBy: 'secrets.token' },
      { secret: 'team-license', key: 'team-license', usedBy: 'secrets.license' },
    ])
    expect(plan?.secrets).toEqual([])
  })

  test('requiredSecrets has each key of an external Secret that variables use', () => {
    const text = `
services:
  a:
    image: i
    secrets: [db]
    x-secret-environment:
      PGUSER: {source: db, key: user}
      PGPASSWORD: {source: db, key: password}
      TOKEN: tok
  b: {image: i, x-secret-environment: {PGPASSWORD: {source: db, key: password}}}
secrets: {db: {external: true}, tok: {external: true, name: team}, unused: {external: true}}
`
    const { plan } = compiled(text, {})
    expect(plan?.requiredSecrets.map(({ secret, key, usedBy }) => `${secret} ${key} ${usedBy}`)).toEqual([
      'db db secrets.db',
      'db password secrets.db',
      'db user secrets.db',
      'team team secrets.tok',
    ])
  })

  test('requiredSecrets has Secrets that are left out of the manifests', () => {
    const text = compose.replace(/ {4}environment:\n.*\n.*\n/, '')
    const files = { 'token.txt': 'x' }
    const required = (options: PlanOptions) =>
      compiled(text, options, files).plan?.requiredSecrets.map(({ secret, key }) => `${secret} ${key}`)
    expect(required({})).toEqual(['app-token token', 'team-license team-license'])
    expect(required({ includeSecrets: true })).toEqual(['team-license team-license'])
  })

  test('requiredSecrets has only external Secrets if External Secrets creates the rest', () => {
    const { plan } = compiled(compose, { secretRules: rules(mapped, { backend: 'external' }) })
    expect(plan?.requiredSecrets.map(({ secret }) => secret)).toEqual(['team-license'])
    expect(plan?.externalSecrets.map(({ name, data }) => [name, ...data.map(({ secretKey }) => secretKey)])).toEqual([
      ['shop-db', 'password', 'token'],
      ['shop-token', 'token'],
    ])
  })

  test('the plan does not depend on whether the values are set', () => {
    const values = { '.env': 'DB_PASSWORD=known\nREPLICATION_TOKEN=known\n', 'token.txt': 'known' }
    const options = { secretRules: rules(mapped) }
    expect(strip(compiled(compose, options, values).plan)).toEqual(strip(compiled(compose, options).plan))
  })
})

/** Removes spans, which contain whole files. */
const strip = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, inner: unknown) => (key === 'span' ? undefined : inner)))

describe('sealed secrets', () => {
  const values = { '.env': 'DB_PASSWORD=known\nREPLICATION_TOKEN=other\n', 'token.txt': 'third' }
  const options: PlanOptions = { secretRules: rules(mapped, { backend: 'sealed' }), forRepository: true }

  test('sealed secrets are in the plan with their data', () => {
    const { plan, diagnostics } = compiled(compose, options, values)
    expect(diagnostics.map(({ code }) => code)).toEqual([])
    expect(plan?.secrets.map(({ name, data }) => [name, texts(data)])).toEqual([
      ['shop-db', { password: 'known', token: 'other' }],
      ['shop-token', { token: 'third' }],
    ])
    expect(plan?.requiredSecrets.map(({ secret }) => secret)).toEqual(['team-license'])
  })

  test('sealed secrets do not include external Secrets', () => {
    const secretRules = rules({ ...mapped, 'secrets.license': ['team', 'license'] }, { backend: 'sealed' })
    const { plan } = compiled(compose, { ...options, secretRules }, values)
    expect(plan?.secrets.map(({ name }) => name)).toEqual(['shop-db', 'shop-token'])
    expect(plan?.requiredSecrets).toMatchObject([{ secret: 'team', key: 'license', usedBy: 'secrets.license' }])
  })

  test('sealed secrets require their values', () => {
    const { plan, diagnostics } = compiled(compose, options, { ...values, '.env': 'DB_PASSWORD=known\n' })
    expect(plan).toBeUndefined()
    expect(diagnostics.map(({ code }) => code)).toContain('secrets/no-value')
    const without = compiled(compose, options, { 'token.txt': 'third' })
    expect(without.diagnostics.map(({ code }) => code)).toContain('interpolation/required')
  })

  test('sealed secrets may have one value for two paths, but not two values', () => {
    const both: Values = { ...mapped, 'services.db.environment.REPLICATION_TOKEN': ['shop-db', 'password'] }
    const secretRules = rules(both, { backend: 'sealed' })
    const codes = (env: string) =>
      compiled(compose, { ...options, secretRules }, { ...values, '.env': env }).diagnostics.map(({ code }) => code)
    expect(codes('DB_PASSWORD=one\nREPLICATION_TOKEN=one\n')).toEqual([])
    expect(codes('DB_PASSWORD=one\nREPLICATION_TOKEN=two\n')).toEqual(['secrets/conflict'])
  })
})

const texts = (data: Readonly<Record<string, Uint8Array>>) =>
  Object.fromEntries(Object.entries(data).map(([key, bytes]) => [key, new TextDecoder().decode(bytes)]))

describe('secrets in diagnostics', () => {
  const secret = 'Hunter2xq'
  const forms = (text: string, files: Readonly<Record<string, string>> = {}, options: PlanOptions = {}) => {
    const { diagnostics, plan } = compiled(text, { forRepository: true, ...options }, files)
    expect(plan).toBeUndefined()
    expect(diagnostics.some(({ code }) => code === 'secrets/looks-secret')).toBe(true)
    return [
      renderDiagnostics(diagnostics),
      renderDiagnostics(diagnostics, { colour: true, width: 40 }),
      JSON.stringify(diagnosticsToJson(diagnostics)),
      JSON.stringify(diagnosticsToSarif(diagnostics, { version: '1' })),
      renderAnnotations(diagnostics),
    ].join('\n')
  }

  test.each([
    ['plain', `environment: {DB_PASSWORD: ${secret}}`],
    ['in quotes', `environment: {DB_PASSWORD: "${secret}"}`],
    ['with an escape', `environment: {DB_PASSWORD: "${secret}\\x21"}`],
    ['in a list', `environment: ["DB_PASSWORD=${secret}"]`],
    ['as a default', `environment: {DB_PASSWORD: "\${NOTHING:-${secret}}"}`],
    ['as a default within one', `environment: {DB_PASSWORD: "a\${NOTHING:-\${NONE:-${secret}}}b"}`],
    ['in a URL', `environment: {URL: "postgres://app:${secret}@db/x"}`],
    ['that is also the user', `environment: {URL: "postgres://${secret}:${secret}@db/x"}`],
    ['in a folded text', `environment:\n      DB_PASSWORD: >-\n        ${secret}\n        ${secret}`],
    ['in a block', `environment:\n      DB_PASSWORD: |\n        ${secret}`],
    ['in a command', `command: app --password ${secret} --token ${secret}`],
    ['in words', `command: ["app", "--password", "${secret}", "--token=${secret}"]`],
    ['in words of several lines', `command:\n      - app\n      - --password\n      - ${secret}`],
    ['in a healthcheck', `healthcheck: {test: "PGPASSWORD=${secret} psql"}`],
    ['in a label', `labels: {my.password: ${secret}}`],
    ['in a hook', `post_start: [{command: [app, --password, ${secret}]}]`],
    ['in a variable of a hook', `pre_start: [{command: [app], environment: {TOKEN: ${secret}}}]`],
  ])('diagnostics do not show a secret: %s', (_, field) => {
    const text = `services:\n  web:\n    image: nginx:1.29\n    ${field}\n`
    expect(forms(text)).not.toContain(secret)
  })

  test('diagnostics do not show a secret in a config, an env file or a file of the host', () => {
    const text = `services:
  web:
    image: nginx:1.29
    env_file: web.env
    configs: [inline]
    volumes: ["./app.ini:/app.ini:ro"]
configs: {inline: {content: "password=${secret}"}}
`
    const files = { 'web.env': `A_TOKEN='${secret}'\n`, 'app.ini': `password = ${secret}\n` }
    expect(forms(text, files)).not.toContain(secret)
  })

  test('excerpts of other diagnostics do not show a secret', () => {
    const text = `services:
  my_db: {image: "postgres:17"}
  web:
    image: nginx:1.29
    environment: {DATABASE_URL: "postgres://app:${secret}@my_db/x", NAME_PASSWORD: ${secret}}
`
    const { diagnostics } = compiled(text, {})
    expect(diagnostics.map(({ code }) => code)).toContain('names/old-host-name')
    expect(renderDiagnostics(diagnostics)).toContain('postgres://app:***@my_db/x')
    expect(renderDiagnostics(diagnostics)).not.toContain(secret)
    const path = 'services.web.environment.DATABASE_URL'
    const secretRules = rules({ [path]: ['db', 'url'] })
    expect(renderDiagnostics(compiled(text, { secretRules }).diagnostics)).not.toContain(secret)
  })

  test('the message names the path and the lines to add', () => {
    const shown = forms(
      `services:\n  web:\n    image: nginx:1.29\n    environment: {"A B": x, TOKEN: ${secret}}\n`,
      {},
      {
        manifestEnvironment: 'prod-eu',
      },
    )
    expect(shown).toContain(`environments:
             prod-eu:
               secrets:
                 values:
                   services.web.environment.TOKEN: {secret: app-web, key: TOKEN}`)
  })
})
