import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { load, loadAll } from 'js-yaml'
import { describe, expect, test } from 'vitest'
import type { KubernetesObject } from '../../../constructs/manifest.ts'
import { makeFolder } from '../../support/cli/folder.ts'
import { type Env, git } from '../../support/git/git.ts'
import { httpServer } from '../../support/git/http-server.ts'
import { COMPOSE, leftIn, manifestFor, type Publishing, publishing } from '../../support/git/publishing.ts'
import { bareRepository, commitDirectly } from '../../support/git/repository.ts'
import { CERTIFICATE, OTHER_CERTIFICATE } from '../../support/gitops/certificates.ts'
import { decrypt, OTHER_RECIPIENT, RECIPIENT } from '../../support/gitops/sops/decrypt.ts'
import { decryptValue, encryptedData } from '../../support/gitops/unseal.ts'
import { type Result, run } from '../../support/run.ts'
import { few, longTest, TAKES_ALL } from '../../support/takes-all.ts'
import { everythingIn, filesIn, leakIn, watched } from './leaks.ts'

const FOLDER = 'environments/staging/shop'
const PASSWORD = 'hunter2-is-very-long'
const URL_PASSWORD = 's3cretpw-of-a-url'
const TOKEN = 'tok-0123456789-abc'

const withVariable = (value: string) => `name: shop
services:
  db:
    image: postgres:16
    environment:
      POSTGRES_PASSWORD: ${value}
`

/** Runs the real command with a separate folder for devctl, and searches all places for secrets afterwards. */
async function watchedPublishing(
  secrets: readonly string[],
  options: Parameters<typeof publishing>[0],
  more: Env = {},
): Promise<Publishing & { readonly home: string; check(): Promise<void>; runs: Result[] }> {
  const made = await publishing(options)
  const root = join(made.source, '..')
  const home = join(root, 'home-of-devctl')
  const look = watched(join(root, 'look'), secrets, made.temporary)
  const runs: Result[] = []
  const env = { ...made.env, DEVCTL_HOME: home, ...look.env, ...more }
  const devctl = async (...words: readonly string[]) => {
    const result = await run(words, { cwd: made.source, env })
    runs.push(result)
    return result
  }
  return {
    ...made,
    env,
    home,
    runs,
    devctl,
    publish: (...words) => devctl('publish', '--environment', 'staging', ...words),
    async check() {
      expect(leakIn(await everythingIn(made.server.repository), secrets)).toBeUndefined()
      expect(leakIn(filesIn(home), secrets)).toBeUndefined()
      expect(leakIn(filesIn(made.temporary), secrets)).toBeUndefined()
      for (const { stdout, stderr } of runs) {
        expect(leakIn(stdout, secrets)).toBeUndefined()
        expect(leakIn(stderr, secrets)).toBeUndefined()
      }
      expect(look.found()).toBe('')
      // The hook proves nothing unless it has run.
      expect(look.hasRun()).toBe(runs.some(({ stdout }) => stdout.startsWith('deploy(')))
      expect(leftIn(made.temporary)).toEqual([])
    },
  }
}

/** Returns the YAML blocks in the help of an error, in order. */
function blocksIn(stderr: string): readonly Readonly<Record<string, Secrets>>[] {
  const blocks = stderr.split('\n').reduce<string[][]>((found, line) => {
    if (/^ +environments:$/.test(line)) found.push([])
    const block = found.at(-1)
    if (block && /^ {8,}\S/.test(line) && !/^ +or, if/.test(line)) block.push(line)
    return found
  }, [])
  return blocks.map(lines => {
    const indent = /^ */.exec(lines[0]!)![0].length
    const read = load(lines.map(line => line.slice(indent)).join('\n')) as {
      environments: Record<string, { secrets: Secrets }>
    }
    return Object.fromEntries(Object.entries(read.environments).map(([name, { secrets }]) => [name, secrets]))
  })
}

interface Secrets {
  readonly values?: Readonly<Record<string, unknown>>
  readonly public?: readonly string[]
}

/** Returns the lines of the manifest with the content of the blocks. */
const pasted = (blocks: readonly Readonly<Record<string, Secrets>>[]) => {
  const all = blocks.flatMap(block => Object.values(block))
  const values = Object.assign({}, ...all.map(({ values }) => values ?? {}))
  return `    secrets: ${JSON.stringify({ values, public: all.flatMap(one => one.public ?? []) })}\n`
}

function objectsIn(tree: Readonly<Record<string, string>>): readonly KubernetesObject[] {
  return Object.entries(tree)
    .filter(([path]) => path.endsWith('.yaml') && !path.endsWith('kustomization.yaml'))
    .flatMap(([, text]) => loadAll(text) as KubernetesObject[])
}

describe('secrets in plain values', () => {
  const cases: readonly (readonly [string, string, string, string])[] = [
    ['in a variable, by its name', withVariable(PASSWORD), 'compose.yaml:6:26', PASSWORD],
    [
      'in a variable, by its shape',
      withVariable('x').replace('POSTGRES_PASSWORD: x', `DATABASE: postgres://app:${URL_PASSWORD}@db/app`),
      'compose.yaml:6:32',
      URL_PASSWORD,
    ],
    [
      'in a variable, because it is random',
      withVariable('x').replace('POSTGRES_PASSWORD: x', 'SEED: 9fK2mQx7Lp0Zr4Tb8Wn1Yc6Vd3Hs5Gj'),
      'compose.yaml:6:13',
      '9fK2mQx7Lp0Zr4Tb8Wn1Yc6Vd3Hs5Gj',
    ],
    [
      'in a command',
      `name: shop\nservices:\n  db:\n    image: redis:7\n    command: redis-server --requirepass ${PASSWORD}\n`,
      'compose.yaml:5:41',
      PASSWORD,
    ],
    [
      'in a label',
      `name: shop\nservices:\n  db:\n    image: redis:7\n    labels:\n      backup.password: ${PASSWORD}\n`,
      'compose.yaml:6:24',
      PASSWORD,
    ],
    [
      'in a healthcheck',
      `name: shop\nservices:\n  db:\n    image: redis:7\n    healthcheck:\n      test: redis-cli --password=${PASSWORD} ping\n`,
      'compose.yaml:6:34',
      PASSWORD,
    ],
    [
      'in a config',
      `name: shop\nservices:\n  db:\n    image: redis:7\n    configs: [conf]\nconfigs:\n  conf:\n    content: |\n      requirepass = ${PASSWORD}\n`,
      'compose.yaml:9:21',
      PASSWORD,
    ],
  ]

  test.each(few(cases, 4))('publish refuses a secret %s', async (_, compose, place, secret) => {
    const { publish, check, server } = await watchedPublishing([secret], { compose })
    const { status, stdout, stderr } = await publish('--loglevel', 'debug')
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toContain(`--> ${place}\n`)
    expect(stderr).toContain('nothing was published')
    expect(blocksIn(stderr).every(({ staging }) => staging)).toBe(true)
    expect(blocksIn(stderr).length).toBeGreaterThan(0)
    expect(await everythingIn(server.repository)).toBe('')
    await check()
  })

  test('publish refuses a secret in a file of the host', async () => {
    const compose =
      'name: shop\nservices:\n  db:\n    image: redis:7\n    volumes: ["./redis.conf:/etc/redis.conf:ro"]\n'
    const { publish, check, change } = await watchedPublishing([PASSWORD], { compose })
    await change({ 'redis.conf': `requirepass = ${PASSWORD}\n` })
    const { status, stderr } = await publish()
    expect(status).toBe(1)
    expect(stderr).toContain('compose.yaml:5:15')
    expect(blocksIn(stderr)).toEqual([{ staging: { public: [expect.stringMatching(/^services\.db\.volumes/)] } }])
    await check()
  })

  longTest('the suggested lines replace a variable with a reference to a Secret', async () => {
    const { publish, check, change, server, tree } = await watchedPublishing([PASSWORD], {
      compose: withVariable(PASSWORD),
    })
    const [values] = blocksIn((await publish()).stderr)
    await change({ 'devctl.yml': manifestFor(server.address, pasted([values!])) })
    expect(await publish()).toMatchObject({
      status: 0,
      stdout: 'deploy(shop/staging): add service/db, add deployment/db\n',
    })
    const text = (await tree())[`${FOLDER}/db/deployment-db.yaml`]!
    expect(text).toMatch(
      /- name: POSTGRES_PASSWORD\n\s+valueFrom:\n\s+secretKeyRef:\n\s+name: shop-db\n\s+key: POSTGRES_PASSWORD/,
    )
    expect((await tree())[`${FOLDER}/README.md`]).toMatch(
      /\| `shop-db` \| `POSTGRES_PASSWORD` \| `services\.db\.environment\.POSTGRES_PASSWORD` \|/,
    )
    await check()
  })

  longTest('the alternative lines make a value public', async () => {
    const { publish, change, server, tree } = await publishing({ compose: withVariable(PASSWORD) })
    const [, open] = blocksIn((await publish()).stderr)
    expect(open).toEqual({ staging: { public: ['services.db.environment.POSTGRES_PASSWORD'] } })
    await change({ 'devctl.yml': manifestFor(server.address, pasted([open!])) })
    expect((await publish()).status).toBe(0)
    expect((await tree())[`${FOLDER}/db/deployment-db.yaml`]).toContain(PASSWORD)
  })

  longTest('publish accepts all places that were made public', async () => {
    const compose = `name: shop
services:
  web:
    image: nginx:1.27
    command: ["app", "-p", "\${A_TOKEN}"]
    labels: {note.example.com/x: "pre-\${B_TOKEN}"}
    environment: ["NAME_\${C_TOKEN}=1"]
    hostname: "H\${D_TOKEN}"
    configs: [{source: site, target: "/etc/\${E_TOKEN}"}]
    tmpfs: ["/t/\${G_TOKEN}"]
    extra_hosts: ["h-\${H_TOKEN}:192.0.2.1"]
    healthcheck: {test: "check \${I_TOKEN}"}
  db:
    image: postgres:16
    volumes: ["data:/d/\${F_TOKEN}"]
volumes: {data: {}}
configs: {site: {content: "\${J_TOKEN}"}}
`
    const { source, devctl, publish, change } = await publishing({ compose })
    const values = [...'ABCDEFGHIJ'].map(letter => `${letter}_TOKEN=${letter}k8f7F6e5d\n`)
    await change({ '.env': values.join('') })
    const words = ['gitops', 'secrets', '--environment', 'staging']
    const { stderr } = await devctl(...words)
    const left = [...stderr.matchAll(/`--public ([^`]+)`/g)].flatMap(([, path]) => ['--public', path!])
    expect(left).toHaveLength(20)
    expect(await devctl(...words, ...left)).toMatchObject({ status: 0 })
    expect(readFileSync(join(source, 'devctl.yml'), 'utf8')).toContain('services.web.labels.note.example.com/x')
    expect(await publish()).toMatchObject({ status: 0 })
  })

  test('all suggested lines together make the next publish succeed', async () => {
    const secrets = [PASSWORD, URL_PASSWORD, TOKEN]
    const compose = `name: shop
services:
  db:
    image: postgres:16
    environment:
      POSTGRES_PASSWORD: ${PASSWORD}
      DATABASE_URL: postgres://app:${URL_PASSWORD}@db/app
    secrets: [token]
secrets:
  token: {file: token.txt}
`
    const { publish, change, server, check, tree } = await watchedPublishing(secrets, { compose })
    await change({ 'token.txt': TOKEN })
    const { stderr } = await publish()
    expect(stderr).toContain('--> compose.yaml:10:3')
    const blocks = blocksIn(stderr).filter(({ staging }) => staging?.values)
    expect(blocks).toHaveLength(3)
    await change({ 'devctl.yml': manifestFor(server.address, pasted(blocks)) })
    expect((await publish('--loglevel', 'debug')).status).toBe(0)
    const files = await tree()
    expect(files[`${FOLDER}/db/deployment-db.yaml`]).toContain('secretName: shop-token')
    expect(objectsIn(files).map(({ kind }) => kind)).not.toContain('Secret')
    expect(files[`${FOLDER}/README.md`]).toContain('`shop-token` | `token`')
    await check()
  })
})

const VALUE = 'services.db.environment.POSTGRES_PASSWORD'
const sealing = (more = '') =>
  `    secrets:\n      backend: sealed\n      certificate: sealing.pem\n      values:\n        ${VALUE}: {secret: shop-db, key: password}\n${more}`

describe('backends', () => {
  test('the backend external writes ExternalSecrets instead of values', async () => {
    const environment = `    secrets:\n      backend: external\n      store: vault\n      storeKind: ClusterSecretStore\n      values:\n        ${VALUE}: {secret: shop-db, key: password, remote: apps/shop, property: db}\n`
    const { publish, tree, check } = await watchedPublishing([PASSWORD], {
      compose: withVariable(PASSWORD),
      environment,
    })
    expect((await publish()).status).toBe(0)
    const external = objectsIn(await tree()).find(({ kind }) => kind === 'ExternalSecret')
    expect(external).toMatchObject({
      metadata: { name: 'shop-db', namespace: 'shop-staging' },
      spec: {
        secretStoreRef: { name: 'vault', kind: 'ClusterSecretStore' },
        data: [{ secretKey: 'password', remoteRef: { key: 'apps/shop', property: 'db' } }],
      },
    })
    await check()
  })

  test.each(few(['kustomize', 'plain', 'single-file']))(
    'a sealed value in the layout %s can be decrypted, and the next publish is unchanged',
    async layout => {
      const { publish, tree, log, change, check } = await watchedPublishing([PASSWORD], {
        compose: withVariable(PASSWORD),
        environment: `${sealing()}    layout: ${layout}\n`,
      })
      await change({ 'sealing.pem': CERTIFICATE })
      const { status, stderr } = await publish()
      expect({ status, stderr }).toMatchObject({ status: 0, stderr: expect.not.stringContaining('warning') })
      const [sealed, ...more] = objectsIn(await tree()).filter(({ kind }) => kind === 'SealedSecret')
      expect(more).toEqual([])
      expect(decryptValue(encryptedData(sealed!)['password']!, 'shop-staging/shop-db').toString()).toBe(PASSWORD)
      expect(objectsIn(await tree()).map(({ kind }) => kind)).not.toContain('Secret')
      expect((await publish()).stdout).toMatch(/^unchanged/)
      expect((await publish('--verify')).status).toBe(0)
      expect(await log()).toHaveLength(1)
      await check()
    },
  )

  test.each(few(['kustomize', 'plain', 'single-file'], 0))('a pull request keeps sealed values: %s', async layout => {
    const compose = withVariable(PASSWORD)
    const { publish, server, log, change, check } = await watchedPublishing([PASSWORD, TOKEN], {
      compose,
      environment: `${sealing()}    layout: ${layout}\n    pullRequest: true\n`,
    })
    await commitDirectly(server.repository, { 'README.md': 'deployments\n' })
    await change({ 'sealing.pem': CERTIFICATE })
    await publish()
    const request = 'devctl/staging/shop'
    const head = await git(server.repository, 'rev-parse', request)
    expect((await publish()).stdout).toMatch(/^unchanged: `devctl/)
    expect(await git(server.repository, 'rev-parse', request)).toBe(head)
    // Merges the pull request unchanged; then sets another value, and the old one again.
    await git(server.repository, 'update-ref', 'refs/heads/main', request)
    expect((await publish()).stdout).toMatch(/^unchanged: env/)
    await change({ 'compose.yaml': withVariable(TOKEN) })
    expect((await publish()).stdout).toMatch(/^deploy\(shop\/staging\): .*\n/)
    await change({ 'compose.yaml': compose })
    const { stdout, stderr } = await publish()
    expect({ stdout, stderr }).toEqual({
      stdout: expect.stringMatching(/^unchanged: env/),
      stderr: expect.stringContaining(`removed the branch \`${request}\``),
    })
    expect(await log()).toHaveLength(2)
    await check()
  })

  test('publish reseals only a changed value, and all values for another certificate', async () => {
    const other = 'another-long-value'
    const compose = `${withVariable(PASSWORD)}      API_TOKEN: ${TOKEN}\n`
    const environment = sealing('        services.db.environment.API_TOKEN: {secret: shop-db, key: token}\n')
    const { publish, tree, log, change, check } = await watchedPublishing([PASSWORD, TOKEN, other], {
      compose,
      environment,
    })
    await change({ 'sealing.pem': CERTIFICATE })
    await publish()
    const sealedNow = async () => encryptedData(objectsIn(await tree()).find(({ kind }) => kind === 'SealedSecret')!)
    const before = await sealedNow()
    await change({ 'compose.yaml': compose.replace(PASSWORD, other) })
    expect((await publish()).stdout).toBe('deploy(shop/staging): change sealedsecret/shop-db\n')
    const after = await sealedNow()
    expect(after['token']).toBe(before['token'])
    expect(decryptValue(after['password']!, 'shop-staging/shop-db').toString()).toBe(other)
    await change({ 'sealing.pem': OTHER_CERTIFICATE })
    expect((await publish()).stdout).toBe('deploy(shop/staging): change sealedsecret/shop-db\n')
    expect((await sealedNow())['token']).not.toBe(before['token'])
    expect(await log()).toHaveLength(3)
    await check()
  })

  longTest('publish without the sealing key reseals the values and reports it', async () => {
    const { publish, source, env, change, home, check } = await watchedPublishing([PASSWORD], {
      compose: withVariable(PASSWORD),
      environment: sealing(),
    })
    await change({ 'sealing.pem': CERTIFICATE })
    await publish()
    const words = ['publish', '--environment', 'staging']
    const elsewhere = { ...env, DEVCTL_HOME: join(home, '../elsewhere') }
    const verified = await run([...words, '--verify'], { cwd: source, env: elsewhere })
    expect(verified).toMatchObject({ status: 1, stderr: expect.stringContaining('cannot be compared') })
    const anew = await run(words, { cwd: source, env: elsewhere })
    expect(anew).toMatchObject({ status: 0, stdout: 'deploy(shop/staging): change sealedsecret/shop-db\n' })
    expect(anew.stderr).toContain('DEVCTL_SEALING_KEY')
    const key = readFileSync(join(home, '../elsewhere/sealing.key'), 'utf8').trim()
    const third = { ...env, DEVCTL_HOME: join(home, '../third'), DEVCTL_SEALING_KEY: key }
    const same = await run(words, { cwd: source, env: third })
    expect(same).toMatchObject({ status: 0, stdout: expect.stringMatching(/^unchanged/) })
    expect(same.stderr).not.toContain('DEVCTL_SEALING_KEY')
    // The first machine has a key, but another one.
    expect((await run(words, { cwd: source, env })).stderr).toContain('DEVCTL_SEALING_KEY')
    await check()
  })

  longTest('publish seals a value that only the environment of the process has', async () => {
    const compose = withVariable('$' + '{DB_PASSWORD}')
    const { publish, change, tree, check } = await watchedPublishing(
      [PASSWORD],
      { compose, environment: sealing() },
      { DB_PASSWORD: PASSWORD },
    )
    await change({ 'sealing.pem': CERTIFICATE })
    expect((await publish('--loglevel', 'debug')).status).toBe(0)
    const sealed = objectsIn(await tree()).find(({ kind }) => kind === 'SealedSecret')!
    expect(decryptValue(encryptedData(sealed)['password']!, 'shop-staging/shop-db').toString()).toBe(PASSWORD)
    await check()
  })

  test('publish refuses to seal a variable without a value', async () => {
    const compose = withVariable('').replace('POSTGRES_PASSWORD: ', 'POSTGRES_PASSWORD:')
    const { publish, change, server } = await publishing({ compose, environment: sealing() })
    await change({ 'sealing.pem': CERTIFICATE })
    expect(await publish()).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('has no value to encrypt'),
    })
    expect(await everythingIn(server.repository)).toBe('')
  })

  test('publish refuses the backend sealed without its certificate', async () => {
    const { publish } = await publishing({ compose: withVariable(PASSWORD), environment: sealing() })
    expect(await publish()).toMatchObject({ status: 1, stderr: expect.stringContaining('cannot read the certificate') })
  })

  test.each(few(['external\n      store: vault', 'reference']))(
    'a shared base does not contain a mapped secret, with the backend %s',
    async backend => {
      const environment = `    layout: kustomize\n    secrets:\n      backend: ${backend}\n      values:\n        ${VALUE}: {secret: shop-db, key: password}\n`
      const { publish, tree, check } = await watchedPublishing([PASSWORD], {
        compose: withVariable(PASSWORD),
        environment,
      })
      expect((await publish()).status).toBe(0)
      expect(Object.keys(await tree()).some(path => path.startsWith('apps/shop/'))).toBe(true)
      await check()
    },
  )

  longTest('a shared base does not contain a secret of one environment', async () => {
    const { publish, tree, change, check } = await watchedPublishing([PASSWORD], {
      environment: `    layout: kustomize\n    compose: secret.yaml\n    secrets:\n      values:\n        services.web.environment.API_TOKEN: {secret: shop-web, key: token}\n`,
    })
    await change({ 'secret.yaml': `services:\n  web:\n    environment:\n      API_TOKEN: ${PASSWORD}\n` })
    expect(await publish()).toMatchObject({ status: 0 })
    expect(Object.values(await tree()).join('\n')).toContain('secretKeyRef')
    await check()
  })
})

test('promote takes the file of a secret that git ignores from the checkout', async () => {
  const compose = `${COMPOSE.replace('depends_on', 'secrets: [token]\n    depends_on')}secrets: {token: {file: ./token.txt}}\n`
  const { source, publish, devctl, server, change, check } = await watchedPublishing([PASSWORD], { compose })
  const own = '      backend: sops\n      age: '
  const environment = (name: string) => manifestFor(server.address).replace(/^[\s\S]*staging:\n/, `  ${name}:\n`)
  const secrets = `    secrets:\n${own}[${RECIPIENT}]\n`
  await change({
    '.gitignore': 'token.txt\n',
    'devctl.yml': `${manifestFor(server.address, secrets)}${environment('production')}${secrets}`,
  })
  writeFileSync(join(source, 'token.txt'), PASSWORD)
  expect(await publish()).toMatchObject({ status: 0 })
  const { status, stderr } = await devctl('promote', 'staging', 'production')
  expect({ status, stderr }).toMatchObject({
    status: 0,
    stderr: expect.stringContaining('`token.txt` of this checkout is used'),
  })
  expect(stderr).not.toContain('warning')
  await check()
})

test.each(['sealed', 'sops'] as const)(
  'an encrypted value of the backend %s that was edited is replaced',
  async backend => {
    const { publish, tree, server, change, check } = await watchedPublishing([PASSWORD], {
      compose: withVariable(PASSWORD),
      environment: backend === 'sops' ? sopsBackend() : sealing(),
    })
    await change({ 'sealing.pem': CERTIFICATE })
    expect(await publish()).toMatchObject({ status: 0 })
    const [path, text] = Object.entries(await tree()).find(([path]) => path.includes('secret-'))!
    // The value has the form that it had, and other bytes.
    const edited = text.replace(/(?<= password: (?:ENC\[AES256_GCM,data:)?)\w/, first => (first === 'B' ? 'C' : 'B'))
    expect(edited).not.toBe(text)
    await commitDirectly(server.repository, { [path]: edited })
    expect(await publish('--verify')).toMatchObject({ status: 1 })
    expect(await publish()).toMatchObject({ status: 1, stderr: expect.stringContaining('edited') })
    expect(await publish('--take-over')).toMatchObject({ status: 0 })
    if (backend === 'sops') expect(await plainData(await tree())).toEqual({ password: PASSWORD })
    else {
      const sealed = objectsIn(await tree()).find(({ kind }) => kind === 'SealedSecret')!
      expect(decryptValue(encryptedData(sealed)['password']!, 'shop-staging/shop-db').toString()).toBe(PASSWORD)
    }
    await check()
  },
)

/** Returns a sops backend with the recipients in the manifest or, without any, in the rules of the repository. */
const sopsBackend = (age: readonly string[] = [RECIPIENT], more = '') =>
  `    secrets:\n      backend: sops\n${age.length > 0 ? `      age: [${age.join(', ')}]\n` : ''}      values:\n        ${VALUE}: {secret: shop-db, key: password}\n${more}`

const secretIn = (tree: Readonly<Record<string, string>>) => objectsIn(tree).find(({ kind }) => kind === 'Secret')!
const plainData = async (tree: Readonly<Record<string, string>>) => {
  const { data } = (await decrypt(secretIn(tree))) as unknown as { readonly data: Readonly<Record<string, string>> }
  return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'base64').toString()]))
}

describe('the backend sops', () => {
  test.each(few(['kustomize', 'plain', 'single-file']))(
    'an encrypted value in the layout %s can be decrypted, and the next publish is unchanged',
    async layout => {
      const { publish, tree, log, check } = await watchedPublishing([PASSWORD], {
        compose: withVariable(PASSWORD),
        environment: `${sopsBackend()}    layout: ${layout}\n`,
      })
      const { status, stderr } = await publish()
      expect({ status, stderr }).toMatchObject({ status: 0, stderr: expect.not.stringContaining('warning') })
      expect(await plainData(await tree())).toEqual({ password: PASSWORD })
      expect(objectsIn(await tree()).filter(({ kind }) => kind === 'Secret')).toHaveLength(1)
      expect((await publish()).stdout).toMatch(/^unchanged/)
      expect((await publish('--verify')).status).toBe(0)
      expect(await log()).toHaveLength(1)
      await check()
    },
  )

  longTest('an encrypted value is unchanged in a pull request and after its merge', async () => {
    const compose = withVariable(PASSWORD)
    const { publish, server, log, change, check } = await watchedPublishing([PASSWORD, TOKEN], {
      compose,
      environment: `${sopsBackend()}    pullRequest: true\n`,
    })
    await commitDirectly(server.repository, { 'README.md': 'deployments\n' })
    await publish()
    const request = 'devctl/staging/shop'
    const head = await git(server.repository, 'rev-parse', request)
    expect((await publish()).stdout).toMatch(/^unchanged: `devctl/)
    expect(await git(server.repository, 'rev-parse', request)).toBe(head)
    await git(server.repository, 'update-ref', 'refs/heads/main', request)
    expect((await publish()).stdout).toMatch(/^unchanged: env/)
    await change({ 'compose.yaml': withVariable(TOKEN) })
    expect((await publish()).stdout).toMatch(/^deploy\(shop\/staging\): .*\n/)
    await change({ 'compose.yaml': compose })
    expect((await publish()).stdout).toMatch(/^unchanged: env/)
    expect(await log()).toHaveLength(2)
    await check()
  })

  longTest('publish encrypts after a changed value, recipient or namespace, and refuses manual edits', async () => {
    const other = 'another-long-value'
    const compose = withVariable(PASSWORD)
    const { publish, tree, change, server, log, check } = await watchedPublishing([PASSWORD, other], {
      compose,
      environment: sopsBackend(),
    })
    await publish()
    const before = secretIn(await tree())
    await change({ 'compose.yaml': compose.replace(PASSWORD, other) })
    const changed = await publish()
    expect(changed.stdout).toBe('deploy(shop/staging): change secret/shop-db\n')
    expect(await plainData(await tree())).toEqual({ password: other })
    expect(secretIn(await tree())['data']).not.toEqual(before['data'])
    const both = manifestFor(server.address, sopsBackend([RECIPIENT, OTHER_RECIPIENT]))
    await change({ 'devctl.yml': both })
    expect((await publish()).stdout).toBe('deploy(shop/staging): change secret/shop-db\n')
    await change({ 'devctl.yml': both.replace('namespace: shop-staging', 'namespace: shop-other') })
    expect((await publish()).status).toBe(0)
    expect(await decrypt(secretIn(await tree()))).toMatchObject({ metadata: { namespace: 'shop-other' } })
    expect((await publish()).stdout).toMatch(/^unchanged/)
    expect(await log()).toHaveLength(4)

    // The edit of another user is not lost.
    const [path, text] = Object.entries(await tree()).find(([path]) => path.includes('secret-'))!
    await commitDirectly(server.repository, { [path]: `${text}# by hand\n` })
    expect(await publish()).toMatchObject({ status: 1, stderr: expect.stringContaining('edited') })
    await check()
  })

  longTest('publish uses the recipients of `.sops.yaml` in the repository', async () => {
    const { publish, tree, server, check } = await watchedPublishing([PASSWORD], {
      compose: withVariable(PASSWORD),
      environment: sopsBackend([]),
    })
    expect(await publish()).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('the repository has no `.sops.yaml`'),
    })
    const rules = (age: string) => ({
      '.sops.yaml': `creation_rules:\n  - path_regex: ^environments/staging/.*\\.yaml$\n    age: ${age}\n`,
    })
    await commitDirectly(server.repository, rules(RECIPIENT))
    expect((await publish()).status).toBe(0)
    expect(await plainData(await tree())).toEqual({ password: PASSWORD })
    expect((await publish()).stdout).toMatch(/^unchanged/)
    await commitDirectly(server.repository, rules(`${RECIPIENT},${OTHER_RECIPIENT}`))
    expect((await publish()).stdout).toBe('deploy(shop/staging): change secret/shop-db\n')
    await commitDirectly(server.repository, { '.sops.yaml': 'creation_rules: [{pgp: ABCDEF}]\n' })
    expect(await publish()).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('`pgp`'),
    })
    await check()
  })

  longTest('publish without the key of the marks encrypts again and reports it', async () => {
    const { publish, source, env, home, check } = await watchedPublishing([PASSWORD], {
      compose: withVariable(PASSWORD),
      environment: sopsBackend(),
    })
    await publish()
    const elsewhere = { ...env, DEVCTL_HOME: join(home, '../elsewhere') }
    const anew = await run(['publish', '--environment', 'staging'], { cwd: source, env: elsewhere })
    expect(anew).toMatchObject({ status: 0, stdout: 'deploy(shop/staging): change secret/shop-db\n' })
    expect(anew.stderr).toContain('DEVCTL_SEALING_KEY')
    await check()
  })
})

describe('credentials in addresses', () => {
  test('credentials of the GitOps repository appear nowhere', async () => {
    const bare = await bareRepository(makeFolder())
    const server = await httpServer(bare.repository, { user: 'ci', password: TOKEN })
    try {
      const address = server.address.replace('http://', `http://ci:${TOKEN}@`)
      const { publish, check, runs, change } = await watchedPublishing([TOKEN], {
        server: { ...server, address, env: {} },
      })
      expect((await publish('--loglevel', 'debug')).status).toBe(0)
      await change({ 'compose.yaml': 'name: shop\nservices:\n  web:\n    image: nginx:1.28\n' })
      if (TAKES_ALL) {
        await publish('--output', 'json', '--dry-run')
        await publish('--verify')
      }
      await publish('--pull-request')
      expect(runs.every(({ stderr }) => !stderr.includes('@127'))).toBe(true)
      await check()
    } finally {
      await server.close()
    }
  })

  test('wrong credentials are not printed', async () => {
    const bare = await bareRepository(makeFolder())
    const server = await httpServer(bare.repository, { user: 'ci', password: 'another' })
    try {
      const address = server.address.replace('http://', `http://ci:${TOKEN}@`)
      const { publish, check } = await watchedPublishing([TOKEN], { server: { ...server, address, env: {} } })
      expect(await publish()).toMatchObject({ status: 1, stderr: expect.stringContaining('authentication failed') })
      await check()
    } finally {
      await server.close()
    }
  })

  longTest('credentials of the source repository are used for its history and not printed', async () => {
    const { source, server, check, env, runs, change } = await watchedPublishing([TOKEN], {})
    const older = await change({ 'compose.yaml': COMPOSE.replace('1.27', '1.26') })
    await change({ 'compose.yaml': COMPOSE })
    await git(source, 'branch', 'old', older)
    const remote = await httpServer(join(source, '.git'), { user: 'ci', password: TOKEN })
    try {
      const address = remote.address.replace('http://', `http://ci:${TOKEN}@`)
      const clones = makeFolder()
      const words = ['publish', '--environment', 'staging', '--loglevel', 'debug']
      for (const branch of ['main', 'old']) {
        await git(clones, 'clone', '--quiet', '--depth=1', `--branch=${branch}`, address, branch)
        runs.push(await run(words, { cwd: join(clones, branch), env }))
      }
      expect(runs.map(({ status }) => status)).toEqual([0, 0])
      expect(runs[1]!.stdout).toContain('which is newer than')
      expect(Number(await git(server.repository, 'rev-list', '--count', 'main'))).toBe(1)
      await check()
    } finally {
      await remote.close()
    }
  })

  test('credentials of the source repository appear nowhere', async () => {
    const { publish, source, check, env } = await watchedPublishing([TOKEN], {})
    await git(source, 'remote', 'add', 'origin', `https://ci:${TOKEN}@git.example.com/org/shop.git`)
    expect(env['DEVCTL_HOME']).toBeDefined()
    expect((await publish()).status).toBe(0)
    await check()
  })
})
