import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ImageBuilder } from '../../../builds/builder/builder.ts'
import { toTerminal } from '../../../cli/terminal/operation-events.ts'
import { printOutcome } from '../../../cli/terminal/print-outcome.ts'
import { plainProgress } from '../../../cli/terminal/progress/plain.ts'
import { prepareForCluster } from '../../../operations/deploy/compile-for-cluster.ts'
import type { ForCluster } from '../../../operations/deploy/input.ts'
import { addCredentials, registriesIn } from '../../../operations/deploy/registry-credentials.ts'
import { openProject } from '../../../project/open-project.ts'
import { makeFolder } from '../../support/cli/folder.ts'
import { fakeServer, refuse } from '../../support/registry/fake-registry.ts'

const COMPOSE = `services:
  web:
    build: .
  api:
    image: registry.example.com/api:1
    build: {context: ./api}
  db:
    image: redis:7
`

/** Compiles as deploy does, and returns the result and the output. */
async function compiled(options: object = {}, compose = COMPOSE, env: Readonly<Record<string, string>> = {}) {
  const cwd = makeFolder({
    'compose.yaml': compose,
    Dockerfile: 'FROM busybox:1.37\n',
    'api/Dockerfile': 'FROM busybox:1.37\n',
  })
  let said = ''
  const output = {
    isTTY: false,
    write: (text: string) => {
      said += text
    },
  }
  const io = { stdout: output, stderr: output, readStdin: async () => new Uint8Array(), env, cwd }
  const context = { io, logLevel: 'warn' as const, commands: [], help: () => undefined }
  const values: ForCluster = { name: 'shop', ...options }
  const project = await openProject(io, values)
  const signal = new AbortController().signal
  const on = toTerminal(
    context,
    plainProgress(io, () => 0, 'warn'),
    'text',
  )
  const session = { namespace: 'shop', signal, target: TARGET }
  const ensured: string[] = []
  const images: ImageBuilder = {
    async ensure(builds, { build }) {
      ensured.push(
        ...builds.map(({ service, contentReference }) => `${service} ${contentReference ? 'built' : 'taken'} ${build}`),
      )
      return new Map(builds.map(({ service, reference }) => [service, `${reference}@${DIGEST}`]))
    },
  }
  const outcome = await prepareForCluster({ workspace: io, session, on }, values, project, images)
  if (outcome.plan) outcome.tell()
  if (!outcome.plan) printOutcome(context, 'text', { kind: 'refused', diagnostics: outcome.diagnostics })
  return { result: outcome.plan ? outcome : undefined, said, cwd, ensured }
}

const DIGEST = `sha256:${'a'.repeat(64)}`
const TARGET = { context: 'kind', namespace: 'shop', from: { context: '', namespace: '' }, stored: { name: 'kind' } }

describe('the image of a service with `build`', () => {
  test('an image without a registry is one error at its `build`, which says what to do', async () => {
    const { result, said } = await compiled()
    expect(result).toBeUndefined()
    expect(said).toContain('error[image/not-built]: no registry is set for the image of `web`')
    expect(said).toContain('compose.yaml:3:5')
    expect(said).toContain('--image web=REFERENCE')
    expect(said).toContain('`--registry`')
    expect(said).toContain('nothing was deployed')
    expect(said.match(/error\[/g)).toHaveLength(1)
    expect(said).not.toContain('no-registry')
    expect(said).not.toContain('registry.local.devctl')
  })

  test.each([
    ['a registry', {}, /^r\.example\.com\/shop-web:\w{12}@sha256:a+$/, ['api built missing', 'web built missing']],
    ['a tag', { tag: '1.4' }, /^r\.example\.com\/shop-web:1\.4@sha256:a+$/, ['api built missing', 'web taken missing']],
    ['--build', { build: true }, /^r\.example\.com\/shop-web:\w{12}@sha256:a+$/, ['api built all', 'web built all']],
    [
      'an image',
      { image: new Map([['web', 'r.example.com/web:2']]) },
      /^r\.example\.com\/web:2$/,
      ['api built missing'],
    ],
  ])('the image is found or built, and used by its digest, with %s', async (_, options, image, ensured) => {
    const compilation = await compiled({ registry: 'r.example.com', ...options })
    expect(compilation.said).not.toContain('error')
    expect(compilation.ensured).toEqual(ensured)
    const web = compilation.result?.plan.workloads.find(({ service }) => service === 'web')
    expect(web?.pod.containers[0]?.image).toMatch(image)
  })

  test('a missing registry is not reported if the files have other errors', async () => {
    const { said } = await compiled({}, COMPOSE.replace('image: redis:7', 'image: Redis:7'))
    expect(said).not.toContain('image/not-built')
  })
})

describe('the program of an image that devctl did not build', () => {
  const config = JSON.stringify({
    rootfs: {},
    config: { Entrypoint: ['/run'], Cmd: ['all'], ExposedPorts: { '80/tcp': {} } },
  })
  const digest = `sha256:${createHash('sha256').update(config).digest('hex')}`
  const manifest = JSON.stringify({ schemaVersion: 2, config: { digest } })
  /** A registry with one image under every name, except `gone`. */
  const registry = () =>
    fakeServer(({ path }, response) => {
      if (path.includes('/gone/')) return refuse(response, 404, 'MANIFEST_UNKNOWN')
      response.end(path.includes('/blobs/') ? config : manifest)
    })
  const files = (job: string) => `services:
  main: {image: "registry.example.com/main:1"}
  other: {image: "registry.example.com/other:1"}
  job: {${job}, network_mode: "service:main"}
`
  const onceOf = ({ result }: Awaited<ReturnType<typeof compiled>>) =>
    result?.plan.workloads.find(({ service }) => service === 'main')?.pod.containers.find(({ name }) => name === 'job')
      ?.once
  const env = { DOCKER_CONFIG: '/nonexistent' }

  test.each([
    ['command: migrate', { retries: 5 }],
    ['command: migrate, restart: "no"', { retries: 0 }],
    ['command: migrate, restart: on-failure', {}],
    ['restart: "no"', { cmd: ['all'], retries: 0 }],
  ])('deploy asks the registry about a one-shot in the Pod of another service: %s', async (keys, expected) => {
    const { host, requests } = await registry()
    const done = await compiled({}, files(`image: "${host}/job:1", ${keys}`), env)
    expect(onceOf(done)).toEqual({ toolsImage: 'busybox:1.37', entrypoint: ['/run'], ...expected })
    expect(done.said).toBe('')
    expect(done.ensured).toEqual([])
    expect(requests.filter(({ path }) => path.startsWith('/v2/job/'))).toHaveLength(2)
    // Nothing else of the image is used.
    expect(done.result!.plan.services.flatMap(({ ports }) => ports)).toEqual([])
  })

  test('deploy says that the registry does not know the image, and what to write', async () => {
    const { host } = await registry()
    const gone = await compiled({}, files(`image: "${host}/gone/job:1", command: migrate`), env)
    expect(gone.result).toBeDefined()
    expect(onceOf(gone)).toBeUndefined()
    expect(gone.said).toContain(`the program of the image of \`job\` is not known`)
    expect(gone.said).toContain(`the registry \`${host}\` has no`)
    expect(gone.said).toContain('set `entrypoint` to the program that its image starts')
    expect(gone.said).not.toContain('warning[')

    const kept = await compiled({}, files(`image: "${host}/gone/job:1", restart: "no"`), env)
    expect(kept.said).toContain('warning[restart/ignored]')
    expect(kept.said).toContain('the program of the image of `job` is not known')
    expect(kept.said).not.toContain('asks the registry')
  })

  test.each([
    ['of a member that may be a server', {}, ''],
    ['of a server', {}, ', command: serve, expose: ["80"]'],
    ['of a service that is not deployed', { services: ['other'] }, ', command: migrate'],
  ])('deploy does not ask for the program %s', async (_, options, keys) => {
    const { host, requests } = await registry()
    const done = await compiled(options, files(`image: "${host}/job:1"${keys}`), env)
    expect(done.result).toBeDefined()
    expect(done.said).not.toContain('the program of the image of')
    expect(requests).toEqual([])
  })

  test('deploy of one service asks for the programs in its Pod', async () => {
    const { host } = await registry()
    const done = await compiled({ services: ['main'] }, files(`image: "${host}/job:1", command: migrate`), env)
    expect(onceOf(done)).toMatchObject({ entrypoint: ['/run'] })
  })
})

describe('--registry-credentials', () => {
  const compose =
    'services:\n  web: {image: registry.example.com/web:1}\n  api: {image: other.example.com/api:1}\n  db: {image: "redis:7"}\n'
  const auth = Buffer.from('ann:a secret of ann').toString('base64')
  const docker = () => ({
    DOCKER_CONFIG: join(
      makeFolder({
        'config.json': JSON.stringify({
          auths: { 'registry.example.com': { auth }, 'unused.example.com': { auth } },
        }),
      }),
    ),
  })
  const pullSecretsOf = (object: object) =>
    (object as { spec?: { template?: { spec?: { imagePullSecrets?: unknown } } } }).spec?.template?.spec // a workload
      ?.imagePullSecrets

  test('the credentials become a Secret that only the Pods use whose images need it', async () => {
    const { result, said } = await compiled({ registryCredentials: true }, compose, docker())
    const objects = result!.synth(result!.plan).map(({ object }) => object)
    const secret = objects.find(({ kind }) => kind === 'Secret')!
    expect(secret).toMatchObject({
      type: 'kubernetes.io/dockerconfigjson',
      metadata: { name: 'shop-registry', labels: { 'dev.platform/environment': 'shop' } },
    })
    const data = secret['data'] as Readonly<Record<string, string>> // a Secret's data
    expect(JSON.parse(Buffer.from(data['.dockerconfigjson']!, 'base64').toString())).toEqual({
      auths: { 'registry.example.com': { auth, username: 'ann', password: 'a secret of ann' } },
    })
    const used = objects.flatMap(object => (pullSecretsOf(object) ? [object.metadata.name] : []))
    expect(used).toEqual(['web'])
    expect(objects.map(pullSecretsOf).find(Boolean)).toEqual([{ name: 'shop-registry' }])
    expect(said).toContain('no credentials for docker.io, other.example.com: pulled without')
    expect(said.match(/no credentials/g)).toHaveLength(1)
    expect(said).not.toContain('secret of ann')
    expect(said).not.toContain(auth)
  })

  test.each([
    ['one service', ['web'], ['web'], []],
    ['a service whose registry has no credentials', ['db'], [], ['docker.io']],
    ['all services', [], ['api', 'web'], ['docker.io']],
  ])('a deploy of %s keeps the credentials for the images of the others', async (_, services, users, lacking) => {
    const auths = { 'registry.example.com': { auth }, 'other.example.com': { auth } }
    const env = { DOCKER_CONFIG: makeFolder({ 'config.json': JSON.stringify({ auths }) }) }
    const { result, said } = await compiled({ registryCredentials: true, services }, compose, env)
    const [secret] = result!.plan.secrets
    const { auths: kept } = JSON.parse(Buffer.from(secret!.data!['.dockerconfigjson']!).toString())
    expect(Object.keys(kept)).toEqual(['other.example.com', 'registry.example.com'])
    const objects = result!.synth(result!.plan).map(({ object }) => object)
    expect(objects.some(({ kind }) => kind === 'Secret')).toBe(users.length > 0)
    expect(objects.flatMap(object => (pullSecretsOf(object) ? [object.metadata.name] : []))).toEqual(users)
    const notes = lacking.map(one => `no credentials for ${one}: pulled without`)
    expect(said.match(/no credentials.*: pulled without/g) ?? []).toEqual(notes)
  })

  test('the credentials are not read without the option', async () => {
    const { result, said } = await compiled({}, compose, docker())
    expect(result!.plan.secrets).toEqual([])
    expect(said).not.toContain('credentials')
  })

  test('a plan without usable credentials stays as it is, and an identity token is reported', () => {
    const plan = { environment: { name: 'shop' }, workloads: [], secrets: [] } as unknown as Parameters<
      typeof addCredentials
    >[0] // only the parts of a plan that the code reads
    const none = addCredentials(plan, registriesIn([]), new Map([['docker.io', { kind: 'none' }]]))
    expect(none.plan).toBe(plan)
    const identity = { kind: 'token', identityToken: 'abc' } as const
    const token = addCredentials(plan, registriesIn([]), new Map([['a.example.com', identity]]))
    expect(token.plan).toBe(plan)
    expect(token.notes[0]).toContain('identity token for a.example.com')
  })

  test('the Secret does not take the name of a secret of the project', () => {
    const plan = {
      environment: { name: 'shop' },
      workloads: [],
      secrets: [{ name: 'shop-registry', source: 'compose.yaml#secrets.registry', data: {} }],
    } as unknown as Parameters<typeof addCredentials>[0] // only the parts of a plan that the code reads
    const credentials = new Map([['a.example.com', { kind: 'login', username: 'a', password: 'b' } as const]])
    const { secrets } = addCredentials(plan, new Map(), credentials).plan
    expect(secrets.map(({ name }) => name)).toEqual(['shop-registry', 'shop-registry-pull'])
  })
})
