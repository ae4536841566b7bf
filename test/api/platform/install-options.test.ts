import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import type { Cluster, KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { connect } from '../../../adapters/kubernetes/kube-cluster.ts'
import type { Io } from '../../../cli/terminal/io.ts'
import { platformObjects } from '../../../platform/install/manifests/server.ts'
import { PLATFORM_NAMESPACE, USERS_NAMESPACE } from '../../../platform/records/names.ts'
import { fromUser } from '../../../platform/records/user.ts'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'
import { everything } from '../../support/platform/everything.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { run } from '../../support/run.ts'
import { few, longTest, TAKES_ALL } from '../../support/takes-all.ts'
import { type StubRegistry, stubRegistry } from './stub-registry.ts'

// Tests `devctl platform install` and `uninstall` with a real API server. No Pods are needed: the platform has no
// replicas here, and upgrades keep that.

const found = findCluster()
const DOMAIN = 'dev.example.com'
const PATH = 'mirror/devctl'
let registry: StubRegistry
let INSTALL = ''
const OBJECTS = platformObjects({
  version: '0.1.0',
  domain: DOMAIN,
  image: 'x',
  runnerImage: 'x',
  replicas: 0,
  kubernetes: { server: 'https://kubernetes.example.com' },
})

describe.skipIf(!found)('devctl platform install', () => {
  let cluster: Cluster
  let folder: string
  let before: ReadonlySet<string>

  const devctl = (line: string, choose?: Io['choose']) =>
    run(line.split(' '), {
      cwd: folder,
      choose,
      env: { HOME: folder, DEVCTL_HOME: folder, KUBECONFIG: process.env.KUBECONFIG! },
    })
  const ok = async (line: string) => {
    const answer = await devctl(line)
    expect(answer.status, answer.stderr).toBe(0)
    return answer
  }
  const objectsIn = (text: string): readonly KubeObject[] =>
    parseAllDocuments(text).map(one => one.toJS() as KubeObject) // of a list of objects
  const get = (kind: string, name: string, apiVersion = 'v1', namespace = PLATFORM_NAMESPACE) =>
    cluster.get({ apiVersion, kind, name, namespace })
  const certificate = () => get('Certificate', 'platform-tls', 'cert-manager.io/v1')

  /** Returns all objects of a platform without options, as they are in the cluster; undefined for a missing one. */
  const live = () =>
    Promise.all(
      OBJECTS.map(({ apiVersion, kind, metadata: { name, namespace } }) =>
        cluster.get({ apiVersion, kind, name, namespace }),
      ),
    )

  /** Applies objects as a user does who keeps them in a repository. */
  async function apply(objects: readonly KubeObject[]): Promise<void> {
    for (const object of objects) {
      const { spec } = object as { readonly spec?: object }
      const hasPods = ['Deployment', 'StatefulSet'].includes(object.kind)
      const wanted = hasPods ? { ...object, spec: { ...spec, replicas: 0 } } : object
      // The API server may not know a new namespace yet.
      await eventually(`${object.kind} ${object.metadata.name}`, () =>
        cluster.apply(wanted, { manager: 'gitops', force: true }).then(
          () => true,
          (error: Error) => (error.message.includes('not found') ? undefined : Promise.reject(error)),
        ),
      )
    }
  }

  async function gone(): Promise<void> {
    await ok('platform uninstall --yes')
    const left = async () => [...(await everything(found!))].filter(one => !before.has(one))
    await eventually('nothing of it is left', async () => ((await left()).length === 0 ? true : undefined), {
      explain: async () => (await left()).join('; '),
      seconds: 360,
    })
  }

  beforeAll(async () => {
    // The image of the builders does not exist.
    registry = await stubRegistry(name => name.startsWith(PATH) && !name.endsWith('/buildkit'))
    INSTALL = `platform install --domain ${DOMAIN} --image-registry ${registry.host}/${PATH} --kubernetes-server https://kubernetes.example.com`
    cluster = await connect({ env: process.env })
    folder = await mkdtemp(join(tmpdir(), 'devctl-options-'))
    await devctl('platform uninstall --yes')
    await eventually('an earlier one is gone', async () => {
      const left = await Promise.all(['platform', 'users', 'runs', 'build'].map(one => namespaceOf(`devctl-${one}`)))
      return left.every(one => one === undefined) ? true : undefined
    })
    await cluster.apply(CERTIFICATES, { manager: 'test', force: true })
    // A new kind is not served immediately.
    await eventually('the kind of cert-manager', () =>
      certificate().then(
        () => true,
        () => undefined,
      ),
    )
    before = await everything(found!)
  })
  afterAll(async () => {
    await devctl('platform uninstall --yes')
    const { apiVersion, kind, metadata } = CERTIFICATES
    await cluster?.delete({ apiVersion, kind, name: metadata.name })
    await rm(folder, { recursive: true, force: true })
    registry?.close()
  })

  const namespaceOf = (name: string) => cluster.get({ apiVersion: 'v1', kind: 'Namespace', name })

  test('install and uninstall report missing or wrong options', async () => {
    const told = async (line: string) => {
      const { status, stdout, stderr } = await devctl(line)
      return [status, stdout + stderr]
    }
    expect(await told('platform install')).toEqual([
      2,
      'error: which domain?\n  = help: add `--domain dev.example.com`; the platform is then `platform.dev.example.com`\n',
    ])
    expect(await told(`platform install --domain ${DOMAIN}`)).toEqual([
      2,
      expect.stringContaining('which registry has the images of the platform?\n  = help: add `--image-registry'),
    ])
    for (const server of ['kubernetes', 'http://kubernetes.example.com', 'https://ann:secret@kubernetes.example.com'])
      expect(await told(`${INSTALL} --print --kubernetes-server ${server}`)).toEqual([
        2,
        expect.stringContaining('write the address of the API server'),
      ])
    // Namespaces of earlier tests take a while to be deleted.
    await eventually('nothing is there to be removed', async () => {
      const { stdout } = await ok('platform uninstall --yes')
      return stdout === 'The cluster has no platform; nothing was deleted\n' ? true : undefined
    })
  })

  describe('installation from a repository', () => {
    const line = () =>
      `${INSTALL} --builders 2 --untrusted-builders 1 --bundled-registry --cert-manager letsencrypt --oidc https://git.example.com --oidc-client-id devctl`
    let printed: readonly KubeObject[] = []

    test('install --print prints the objects without Secrets, and names the Secrets', async () => {
      const { stdout, stderr } = await ok(`${line()} --print`)
      printed = objectsIn(stdout)
      expect(printed.filter(({ kind }) => kind === 'Secret')).toEqual([])
      expect(
        stderr,
      ).toBe(`warning: the ingress controller was not found, so builds cannot use what it serves, such as a registry of the platform
  = note: neither the DNS record of \`platform.dev.example.com\` nor a Service of type \`LoadBalancer\` leads to it
  = help: create the DNS record \`*.dev.example.com\` and install again, or name the address of the ingress controller: \`devctl platform install --builder-networks 10.42.0.5/32\`
note: \`${registry.host}/${PATH}\` has no \`buildkit:0.1.0\`: \`devctl platform images --push ${registry.host}/${PATH}\` builds and pushes them
note: Secrets are not printed: \`keys\`, \`login\`, \`registry\`, \`builders\`, \`untrusted-builders\` of \`devctl-platform\`; \`builders\`, \`untrusted-builders\` of \`devctl-build\`
  = help: the same command with \`--only-secrets\` instead of \`--print\` creates those that are missing, and prints how the first administrator logs in
`)
    })

    test('every printed image is of the named registry, by digest if the registry has one', () => {
      const images = [...JSON.stringify(printed).matchAll(/\\?"image\\?":\s*\\?"([^"\\]+)/g)].map(one => one[1]!)
      const named = (name: string) => `${registry.host}/${PATH}/${name}:0.1.0`
      const pinned = (name: string) => `${named(name)}@${registry.digestOf(`${PATH}/${name}`)}`
      // The registry has no digest of an image that it does not have.
      expect(new Set(images)).toEqual(new Set([...['platform', 'runner', 'registry'].map(pinned), named('buildkit')]))
    })

    test('install --print reports a registry without the images, and prints tags', async () => {
      const { stdout, stderr } = await ok(`${line().replaceAll(PATH, 'other')} --print`)
      expect(stdout).toContain(`image: ${registry.host}/other/platform:0.1.0\n`)
      const missing = ['platform', 'runner', 'registry', 'buildkit'].map(name => `\`${name}:0.1.0\``).join(', ')
      expect(stderr).toContain(`note: \`${registry.host}/other\` has no ${missing}: \`devctl platform images --push `)
    })

    test('install without the client secret of a provider creates nothing', async () => {
      for (const more of few(['', ' --only-secrets']))
        expect(await devctl(`${line()}${more}`)).toMatchObject({
          status: 2,
          stderr: expect.stringContaining('the provider `oidc` has no client secret yet'),
        })
      expect([...(await everything(found!))].filter(one => !before.has(one))).toEqual([])
    })

    test('install --only-secrets creates the Secrets, and no other objects', async () => {
      expect(await devctl(`${line()} --only-secrets --print`)).toMatchObject({ status: 2 })
      writeFileSync(join(folder, 'secret'), 'client-secret-of-the-test\n')
      const { stdout, stderr } = await ok(
        `${line()} --only-secrets --oidc-client-secret-file ${join(folder, 'secret')}`,
      )
      expect(stdout).toMatch(/^The Secrets of https:\/\/platform\.dev\.example\.com exist: `keys`, /)
      expect(stdout).toMatch(/ {2}devctl context use \S+ --token devctl_setup_\w+\n$/)
      expect(stdout + stderr).not.toContain('client-secret-of-the-test')
      const made = [...(await everything(found!))].filter(one => !before.has(one))
      const byItself = /^(Namespace|ServiceAccount|ConfigMap)\.v1 \S*\/(devctl-\w+|default|kube-root-ca\.crt)$/
      expect(
        made
          .filter(one => !byItself.test(one))
          .map(one => one.replace(/t-\w+$/, 'TOKEN'))
          .sort(),
      ).toEqual([
        'Secret.v1 devctl-build/builders',
        'Secret.v1 devctl-build/untrusted-builders',
        'Secret.v1 devctl-platform/builders',
        'Secret.v1 devctl-platform/keys',
        'Secret.v1 devctl-platform/login',
        'Secret.v1 devctl-platform/registry',
        'Secret.v1 devctl-platform/untrusted-builders',
        'Secret.v1 devctl-users/TOKEN',
      ])
    })

    test('the printed objects apply, and their Pods have all Secrets that they mount', async () => {
      await apply(printed)
      const mounted = printed.flatMap(({ metadata, spec }) => {
        const pod = (spec as { readonly template?: { readonly spec?: PodVolumes } } | undefined)?.template?.spec
        return (pod?.volumes ?? []).flatMap(one => (one.secret ? [[metadata.namespace!, one.secret.secretName]] : []))
      })
      expect(mounted.length).toBeGreaterThan(4)
      for (const [namespace, name] of mounted)
        expect(await get('Secret', name!, 'v1', namespace), `${namespace}/${name}`).toBeDefined()
    })

    test('install --only-secrets changes no existing Secret', async () => {
      const read = async () => (await get('Secret', 'keys'))?.metadata.resourceVersion
      const keys = await read()
      await ok(`${line()} --only-secrets`)
      expect(await read()).toBe(keys)
    })

    test('install deletes the client secret of a provider that is removed', async () => {
      expect(Object.keys((await get('Secret', 'login'))?.['data'] as object)).toEqual(['oidc'])
      await ok(`${line().replace(/--oidc \S+ --oidc-client-id \S+/, '--oidc -')} --only-secrets`)
      expect((await get('Secret', 'login'))?.['data'] ?? {}).toEqual({})
    })

    test('uninstall deletes an installation from a repository', gone)
  })

  test('install upgrades an earlier version, and a second installation changes nothing', async () => {
    await apply(objectsIn(readFileSync(join(import.meta.dirname, 'first-platform.yaml'), 'utf8')))
    // It does not matter here why the Pods of the earlier server fail.
    await ok(INSTALL)
    const versions = async () => {
      const all = await live()
      return all.map((one, at) => {
        const { kind, metadata } = OBJECTS[at]!
        return `${kind} ${metadata.name} ${one ? JSON.stringify(one['spec'] ?? one['data'] ?? one['rules']) : 'is missing'}`
      })
    }
    const first = await versions()
    expect(first.filter(one => one.endsWith('missing'))).toEqual([])
    const deployment = await get('Deployment', 'platform', 'apps/v1')
    expect(JSON.stringify(deployment)).toContain(`${registry.host}/${PATH}/platform:0.1.0@sha256:`)
    for (const line of few(['platform install', INSTALL])) {
      await ok(line)
      expect(await versions(), line).toEqual(first)
    }
  })

  describe('changes by an upgrade', () => {
    const replicas = async () => (await get('Deployment', 'platform', 'apps/v1'))?.metadata.generation

    test('install --dry-run prints the changes, and makes none', async () => {
      expect((await ok('platform install --dry-run')).stdout).toMatch(/^nothing differs \(\d+ objects\)\n$/)
      const before = await replicas()
      const { stdout } = await ok('platform install --dry-run --trusted-proxies 10.42.3.7 --cert-manager letsencrypt')
      expect(stdout).toContain(' ~ configmap/settings\n')
      expect(stdout).toContain('       +   "trustedProxies": [\n       +     "10.42.3.7"\n')
      expect(stdout).toContain(' ~ deployment/platform\n')
      expect(stdout).toContain(' + certificate/platform-tls\n')
      expect(stdout).toMatch(/\n5 objects differ \(\d+ unchanged\)\n$/)
      expect(await replicas()).toBe(before)
      expect(await certificate()).toBeUndefined()
    })

    test('install on a terminal shows the changes, and makes none without a yes', async () => {
      const before = await replicas()
      const asked: string[] = []
      const answer = (value: string | undefined) => (question: string) => {
        asked.push(question)
        return Promise.resolve(value)
      }
      const refusals = few(['no', undefined])
      for (const value of refusals) {
        const { status, stdout, stderr } = await devctl('platform install --trusted-proxies 10.42.3.7', answer(value))
        expect([status, stdout]).toEqual([1, ''])
        expect(stderr).toContain(' ~ configmap/settings\n')
        expect(stderr).toMatch(/\nnothing was changed\n$/)
      }
      expect(await replicas()).toBe(before)
      const done = await devctl('platform install --trusted-proxies 10.42.3.7', answer('yes'))
      expect(done.status, done.stderr).toBe(0)
      expect(done.stderr).toContain('\nconfigmap/settings updated\ndeployment/platform updated\n')
      expect(await replicas()).not.toBe(before)
      expect(new Set(asked)).toEqual(new Set([`Change 2 objects of https://platform.${DOMAIN}?`]))
      // Nothing is asked without differences, or with `--yes`.
      await ok('platform install')
      expect((await devctl('platform install', answer('no'))).status).toBe(0)
      expect((await devctl('platform install --trusted-proxies - --yes', answer('no'))).status).toBe(0)
      expect(asked).toHaveLength(refusals.length + 1)
    })

    longTest('install --dry-run names the manager of a value that was set by hand', async () => {
      const ref = { apiVersion: 'v1', kind: 'Service', name: 'platform', namespace: PLATFORM_NAMESPACE }
      await cluster.patch(ref, { spec: { selector: { 'app.kubernetes.io/name': 'other' } } }, { manager: 'somebody' })
      expect((await ok('platform install --dry-run')).stdout).toMatch(
        / ~ service\/platform\n.*set by somebody.*- other/s,
      )
      await ok('platform install')
      expect((await ok('platform install --dry-run')).stdout).toContain('nothing differs')
    })
  })

  test('platform images --installed lists the images of the platform with their digests', async () => {
    const { stdout } = await ok('platform images --installed')
    const rows = stdout
      .trim()
      .split('\n')
      .map(line => line.split(/ {2,}/))
    expect(rows[0]).toEqual(['Image', 'Digest'])
    const digest = registry.digestOf(`${PATH}/platform`)
    const image = `${registry.host}/${PATH}/platform:0.1.0@${digest}`
    expect(rows).toContainEqual([image, digest])
    const printed = JSON.parse((await ok('platform images --installed --output json')).stdout)
    expect(printed).toContainEqual({ image, digest })
  })

  test('platform admin add makes a user an administrator, who must have logged in before', async () => {
    const login = `eve-${RUN}`
    const user = fromUser({
      id: 'eveeveeveeveevee',
      issuer: 'https://login.example.com',
      subject: login,
      login,
      role: 'developer',
      lastLogin: '2026-01-01T00:00:00Z',
    })
    await apply([user])
    expect(await devctl(`platform admin add evi-${RUN}`)).toMatchObject({
      status: 1,
      stderr: `error: nobody has logged in to the platform as \`evi-${RUN}\`\n  = help: did you mean \`${login}\`?\n`,
    })
    expect((await ok(`platform admin add ${login}`)).stdout).toBe(`${login} is now an administrator of the platform\n`)
    const { name } = user.metadata
    const eve = await get('ServiceAccount', name, 'v1', USERS_NAMESPACE)
    expect(eve?.metadata.annotations).toMatchObject({ 'dev.platform/role': 'admin' })
    await cluster.delete({ apiVersion: 'v1', kind: 'ServiceAccount', name, namespace: USERS_NAMESPACE })
  })

  test('install warns of an ingress class that does not exist, and status reports it', async () => {
    const other = { apiVersion: 'networking.k8s.io/v1', kind: 'IngressClass', name: `kong-${RUN}` }
    const ref = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'platform', namespace: PLATFORM_NAMESPACE }
    const name = (ingressClassName: string | null) =>
      cluster.patch(ref, { spec: { ingressClassName } }, { manager: 'somebody' })
    const wrong = `the ingress class \`not-there\` does not exist, so no ingress controller serves \`platform.${DOMAIN}\``
    const hint = `\`devctl platform install --ingress-class ${other.name}\``
    const { apiVersion, kind } = other
    await cluster.create({ apiVersion, kind, metadata: { name: other.name }, spec: { controller: 'example.com/kong' } })
    const { ingressClassName = null } = (await cluster.get(ref))!['spec'] as { readonly ingressClassName?: string }
    try {
      const { stderr } = await ok('platform install --dry-run --ingress-class not-there')
      expect(stderr).toContain(`warning: ${wrong}\n  = help: name a class that exists: `)
      expect(stderr).toContain(hint)
      expect((await ok(`platform install --dry-run --ingress-class ${other.name}`)).stderr).not.toContain(wrong)
      await name('not-there')
      const { status, stderr: told } = await devctl('platform status')
      expect([status, told]).toEqual([1, expect.stringContaining(`error: ${wrong}\n`)])
      expect(told).toContain(hint)
      expect(told).toContain('no ingress controller has written its address into `ingress/platform`')
    } finally {
      await name(ingressClassName)
      await cluster.delete(other)
    }
  })

  test('install warns of networks that lack a part of the cluster, and status reports them', async () => {
    const node = { apiVersion: 'v1', kind: 'Node', name: `node-${RUN}` }
    await cluster.create({
      apiVersion: node.apiVersion,
      kind: node.kind,
      metadata: { name: node.name },
      status: { addresses: [{ type: 'InternalIP', address: '93.184.216.77' }] },
    })
    const open = 'namespaces, runs and builds can reach parts of the cluster that its listed networks do not include'
    try {
      const { stderr } = await ok('platform install --dry-run --cluster-networks 10.0.0.0/8')
      expect(stderr).toContain(`warning: ${open}\n  = note: nodes: `)
      expect(stderr).toContain(`93.184.216.77 (\`node-${RUN}\`)\n`)
      expect(stderr).toMatch(
        / = help: `devctl platform install --cluster-networks \S*93\.184\.216\.77\/32\S*` excludes them/,
      )
      expect((await ok('platform install --dry-run')).stderr).not.toContain(open)
      // The status finds it; the next installation excludes it.
      const told = (await devctl('platform status')).stderr
      expect(told).toContain(`error: ${open}\n  = note: nodes: 93.184.216.77 (\`node-${RUN}\`)\n`)
      expect(told).toContain(' = help: `devctl platform install` finds and excludes them\n')
    } finally {
      await cluster.delete(node)
    }
  })

  longTest('commands do not replace lost settings, but report them, and a restored ConfigMap works', async () => {
    const settings = (await get('ConfigMap', 'settings'))!
    await cluster.delete({ apiVersion: 'v1', kind: 'ConfigMap', name: 'settings', namespace: PLATFORM_NAMESPACE })
    for (const line of [INSTALL, 'platform install --dry-run', 'platform status', 'platform invite ann'])
      expect(await devctl(line), line).toMatchObject({
        status: 1,
        stderr: expect.stringContaining(
          'error: the platform has lost its settings: the ConfigMap `settings` is missing',
        ),
      })
    const { apiVersion, kind, metadata } = settings
    await cluster.create({
      apiVersion,
      kind,
      metadata: { name: metadata.name, namespace: PLATFORM_NAMESPACE },
      data: settings['data'],
    })
    await ok('platform install')
  })

  longTest('install warns of options and settings that have no effect', async () => {
    const { stderr } = await ok(`${INSTALL} --dry-run --tls-secret not-there`)
    expect(stderr).toContain('warning: the Secret `not-there` does not exist: until it does')
    const local = await ok(`${INSTALL.replace(/ --kubernetes-server \S+/, '')} --dry-run`)
    expect(local.stderr).not.toContain('only this machine')
    const settings = (await get('ConfigMap', 'settings'))!
    const text = (settings['data'] as Readonly<Record<string, string>>)['settings.json']!
    const wrong = { ...JSON.parse(text), namespacePerUser: 9, sleepHours: { previews: 2 } }
    const ref = { apiVersion: 'v1', kind: 'ConfigMap', name: 'settings', namespace: PLATFORM_NAMESPACE }
    await cluster.patch(ref, { data: { 'settings.json': JSON.stringify(wrong) } }, { manager: 'somebody' })
    const warned = (await ok('platform install --dry-run')).stderr
    expect(warned).toContain(
      'warning: `settings.json` has `namespacePerUser`, which is no setting: it is kept and does nothing\n  = help: did you mean `namespacesPerUser`?\n',
    )
    expect(warned).toContain(
      '`sleepHours.previews`, which is no setting: it is kept and does nothing\n  = help: did you mean `preview`?\n',
    )
    await cluster.patch(ref, { data: { 'settings.json': text } }, { manager: 'somebody' })
  })

  if (TAKES_ALL)
    describe('the certificate of the platform', () => {
      const secret = () => get('Secret', 'platform-tls')
      const tlsOf = async () => JSON.stringify((await get('Ingress', 'platform', 'networking.k8s.io/v1'))?.['spec'])

      test('a certificate of cert-manager stays if no option changes it', async () => {
        for (const line of [`${INSTALL} --cert-manager letsencrypt`, INSTALL]) {
          await ok(line)
          expect(await certificate()).toMatchObject({ spec: { issuerRef: { name: 'letsencrypt' } } })
          expect(await tlsOf()).toContain('platform-tls')
        }
        // cert-manager creates such a Secret.
        await cluster.apply(
          {
            apiVersion: 'v1',
            kind: 'Secret',
            metadata: {
              name: 'platform-tls',
              namespace: PLATFORM_NAMESPACE,
              annotations: { 'cert-manager.io/certificate-name': 'platform-tls' },
            },
            type: 'kubernetes.io/tls',
            data: { 'tls.crt': '', 'tls.key': '' },
          },
          { manager: 'cert-manager' },
        )
      })

      longTest('--own-ca deletes the certificate of cert-manager, and its authority stays', async () => {
        const { stderr, stdout } = await ok(`${INSTALL} --own-ca`)
        expect(stderr).toContain('certificate/platform-tls deleted\n')
        expect(stdout).toContain('SHA-256 fingerprint')
        expect(await certificate()).toBeUndefined()
        const { data } = (await secret()) as unknown as { readonly data: Readonly<Record<string, string>> }
        expect(data['tls.crt']).not.toBe('')
        expect((await ok(INSTALL)).stdout).toContain('SHA-256 fingerprint')
        expect((await secret())?.['data']).toEqual(data)
      })

      longTest('--cert-manager deletes the authority of --own-ca', async () => {
        expect((await ok(`${INSTALL} --cert-manager letsencrypt`)).stderr).toContain('secret/own-ca deleted\n')
        expect((await ok(INSTALL)).stdout).not.toContain('fingerprint')
        expect(await get('Secret', 'own-ca')).toBeUndefined()
        expect(await certificate()).toBeDefined()
      })

      longTest('--tls-secret deletes the certificates of devctl, and keeps Secrets of the operator', async () => {
        const { stderr } = await ok(`${INSTALL} --tls-secret wildcard`)
        expect(stderr).toContain('certificate/platform-tls deleted\n')
        expect(stderr).toContain('secret/platform-tls deleted\n')
        expect([await certificate(), await secret()]).toEqual([undefined, undefined])
        expect(await tlsOf()).toContain('wildcard')
        const own = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'own-ca', namespace: PLATFORM_NAMESPACE } }
        await cluster.apply(own, { manager: 'test' })
        await ok(INSTALL)
        expect(await get('Secret', 'own-ca')).toBeDefined()
      })

      longTest('--tls-secret - uses the ingress controller again, and keeps the Secret of the operator', async () => {
        const wildcard = {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'wildcard', namespace: PLATFORM_NAMESPACE },
        }
        await cluster.apply(wildcard, { manager: 'test' })
        for (const line of [`${INSTALL} --tls-secret -`, INSTALL]) {
          await ok(line)
          expect(await tlsOf(), line).not.toContain('secretName')
          expect(await get('Secret', 'wildcard')).toBeDefined()
        }
      })
    })

  longTest('networks that the operator named stay as they are, until they are reset', async () => {
    const networks = async () => {
      const { data } = (await get('ConfigMap', 'settings')) as unknown as { readonly data: Record<string, string> }
      return JSON.parse(data['settings.json']!).clusterNetworks as readonly string[]
    }
    await ok(INSTALL)
    const found = await networks()
    expect(found.length).toBeGreaterThan(0)
    await ok(`${INSTALL} --cluster-networks 10.42.0.0/16`)
    await ok(INSTALL)
    expect(await networks()).toEqual(['10.42.0.0/16'])
    await ok(`${INSTALL} --cluster-networks -`)
    expect(await networks()).toEqual(found)
    const ofRuns = async () =>
      JSON.stringify(
        await cluster.get({
          apiVersion: 'networking.k8s.io/v1',
          kind: 'NetworkPolicy',
          namespace: 'devctl-runs',
          name: 'devctl-runs',
        }),
      )
    await ok(`${INSTALL} --private-networks 10.20.0.0/16`)
    await ok(INSTALL)
    expect(await ofRuns()).toContain('"cidr":"10.20.0.0/16"')
    await ok(`${INSTALL} --private-networks -`)
    expect(await ofRuns()).not.toContain('"cidr":"10.20.0.0/16"')
  })

  test('uninstall --keep-data keeps users, keys and namespaces for the next installation', async () => {
    const person = {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: `u-${RUN}`, namespace: USERS_NAMESPACE, labels: { 'dev.platform/record': 'user' } },
    }
    const team = `team-${RUN}`
    const shop = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shop', namespace: team } }
    await apply([
      person,
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: team, labels: { 'dev.platform/managed': 'true' } } },
      shop,
    ])
    const keys = (await get('Secret', 'keys'))?.['data']
    expect((await ok('platform uninstall --keep-data')).stdout).toBe(
      'The platform is removed; users and namespaces stay\n',
    )
    const left = async () => (await live()).flatMap(one => (one ? [`${one.kind} ${one.metadata.name}`] : []))
    const kept = [
      'ConfigMap settings',
      'Namespace devctl-platform',
      'Namespace devctl-users',
      'Role devctl-platform',
      'RoleBinding devctl-platform',
    ]
    await eventually(
      'all else is gone',
      async () => ((await left()).every(one => kept.includes(one)) ? true : undefined),
      { explain: async () => (await left()).join('; ') },
    )
    expect(await get('ServiceAccount', person.metadata.name, 'v1', USERS_NAMESPACE)).toBeDefined()
    expect(await get('ConfigMap', 'shop', 'v1', team)).toBeDefined()
    const printed = objectsIn((await ok(`${INSTALL} --print`)).stdout)
    await apply(printed)
    await ok(INSTALL)
    expect((await get('Secret', 'keys'))?.['data']).toEqual(keys)
    expect(await devctl('platform uninstall')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`\`${team}\``),
    })
    await gone()
  })
})

interface PodVolumes {
  readonly volumes?: readonly { readonly secret?: { readonly secretName: string } }[]
}

/** Definition of the kind with only the fields that the tests need: no controller issues certificates here. */
const CERTIFICATES: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'certificates.cert-manager.io' },
  spec: {
    group: 'cert-manager.io',
    names: { kind: 'Certificate', listKind: 'CertificateList', plural: 'certificates', singular: 'certificate' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        },
      },
    ],
  },
}
