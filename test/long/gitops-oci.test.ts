import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ensureArgocd } from '../support/cluster/argocd.ts'
import { findCluster } from '../support/cluster/cluster.ts'
import { DOMAIN } from '../support/cluster/examples.ts'
import { ensureFlux } from '../support/cluster/flux.ts'
import { git } from '../support/git/git.ts'
import { type Publishing, publishingFrom } from '../support/git/publishing.ts'
import { bareRepository } from '../support/git/repository.ts'

/** Registry of the test cluster without TLS, for which controllers have to be configured. */
const REGISTRY = '127.0.0.1:5000'

const cluster = findCluster()
const hasRegistry = cluster !== undefined && (await answers(`http://${REGISTRY}/v2/`))
const isThere = {
  flux: hasRegistry && (await ensureFlux(cluster)),
  argocd: hasRegistry && (await ensureArgocd(cluster)),
}

const ARTIFACT = `${REGISTRY}/devctl-oci-${process.pid}/shop`
/** Time limit of each `kubectl wait`. */
const TIMEOUT = '--timeout=50s'

/** Compose file without Pods, since the workloads are the same as from a repository. */
const compose = (greeting: string) => `name: shop
services:
  web:
    image: busybox:1.37
    command: httpd -f -p 3000 -h /etc
    environment: {GREETING: ${greeting}}
    expose: [3000]
    deploy: {replicas: 0}
`

/** Returns true if the URL answers with a success status. */
async function answers(url: string): Promise<boolean> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(5000) }).catch(() => undefined)
  return answer?.ok ?? false
}

const namespaceOf = (environment: string) => `oci-${environment}-${process.pid}`

const manifest = () => `name: shop
environments:
${['flux', 'argocd']
  .map(
    key => `  ${key}:
    namespace: ${namespaceOf(key)}
    domain: ${DOMAIN}
    oci: ${ARTIFACT}
`,
  )
  .join('')}`

afterAll(() => cluster?.close())

describe.skipIf(!isThere.flux && !isThere.argocd)('an artifact in a registry', () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'devctl-oci-')))
  let app: Publishing

  beforeAll(async () => {
    app = await publishingFrom(root, await bareRepository(root), { compose: compose('hello'), manifest: manifest() })
  })
  afterAll(() => rmSync(root, { recursive: true, force: true }))

  /** Publishes an environment, and returns the digest. */
  async function publish(environment: string, greeting: string): Promise<string> {
    await app.change({ 'compose.yaml': compose(greeting) })
    const { status, stdout, stderr } = await app.devctl('publish', '--environment', environment, '--output', 'json')
    expect(status, stderr).toBe(0)
    return JSON.parse(stdout).digest
  }

  /** Applies the output of `gitops init` after a test has adapted it. */
  async function follow(environment: string, adapt: (text: string) => string): Promise<void> {
    const words = ['gitops', 'init', `--${environment}`, '--environment', environment, '--print']
    const { status, stdout, stderr } = await app.devctl(...words)
    expect(status, stderr).toBe(0)
    const file = join(root, `${environment}.yaml`)
    writeFileSync(file, adapt(stdout))
    await cluster!.kubectl('apply', '--filename', file)
  }

  const greetingIn = (namespace: string) =>
    cluster!.kubectl('--namespace', namespace, 'get', 'deployment', 'web', '--output=jsonpath={..env[0].value}')

  describe.skipIf(!isThere.flux)('Flux', () => {
    const namespace = namespaceOf('flux')
    const kubectl = (...args: readonly string[]) => cluster!.kubectl('--namespace', namespace, ...args)

    beforeAll(() => cluster!.createNamespace(namespace))
    afterAll(async () => {
      await kubectl('delete', 'kustomization,ocirepository', '--all', '--timeout=50s')
      await cluster!.deleteNamespace(namespace)
    })

    /** Triggers a reconciliation of Flux, and waits until the cluster has that artifact. */
    async function reconcile(digest: string): Promise<void> {
      const asked = `reconcile.fluxcd.io/requestedAt=${digest}`
      await kubectl('annotate', '--overwrite', 'ocirepository', 'shop-flux', asked)
      const revision = `--for=jsonpath={.status.lastAppliedRevision}=flux@${digest}`
      await kubectl('wait', 'kustomization/shop-flux', revision, TIMEOUT)
      await kubectl('wait', 'kustomization/shop-flux', '--for=condition=Ready', TIMEOUT)
    }

    test('Flux applies an artifact, which has the revision of its source', async () => {
      const digest = await publish('flux', 'hello')
      await follow('flux', text =>
        text
          .replaceAll('namespace: flux-system', `namespace: ${namespace}`)
          .replace(/^( *)url: oci:.*$/m, '$&\n$1insecure: true'),
      )
      await reconcile(digest)
      expect(await greetingIn(namespace)).toBe('hello')
      const { status } = JSON.parse(await kubectl('get', 'ocirepository', 'shop-flux', '--output=json'))
      expect(status.artifact.metadata).toMatchObject({
        'org.opencontainers.image.revision': await git(app.source, 'rev-parse', 'HEAD'),
      })
    })

    test('Flux applies a changed artifact', async () => {
      await reconcile(await publish('flux', 'goodbye'))
      expect(await greetingIn(namespace)).toBe('goodbye')
    })
  })

  describe.skipIf(!isThere.argocd)('Argo CD', () => {
    const namespace = namespaceOf('argocd')
    const name = `shop-argocd-${process.pid}`
    const kubectl = (...args: readonly string[]) => cluster!.kubectl('--namespace', 'argocd', ...args)

    beforeAll(async () => {
      await cluster!.createNamespace(namespace)
      const values = ['type=oci', `url=oci://${ARTIFACT}`, 'insecureOCIForceHttp=true']
      const literals = values.map(value => `--from-literal=${value}`)
      await kubectl('create', 'secret', 'generic', name, ...literals)
      await kubectl('label', 'secret', name, 'argocd.argoproj.io/secret-type=repository')
    })
    afterAll(async () => {
      await kubectl('delete', 'application', name, '--ignore-not-found', '--timeout=50s')
      await kubectl('delete', 'secret', name, '--ignore-not-found')
      await cluster!.deleteNamespace(namespace)
    })

    /** Triggers a refresh of Argo CD, and waits until the cluster has that artifact. */
    async function reconcile(digest: string): Promise<void> {
      await kubectl('annotate', '--overwrite', 'application', name, 'argocd.argoproj.io/refresh=normal')
      for (const state of [`sync.revision}=${digest}`, 'sync.status}=Synced', 'health.status}=Healthy'])
        await kubectl('wait', `application/${name}`, `--for=jsonpath={.status.${state}`, TIMEOUT)
    }

    test('Argo CD applies an artifact, and is in sync', async () => {
      const digest = await publish('argocd', 'hello')
      await follow('argocd', text => text.replace('name: shop-argocd', `name: ${name}`))
      await reconcile(digest)
      expect(await greetingIn(namespace)).toBe('hello')
    })

    test('Argo CD applies a changed artifact', async () => {
      await reconcile(await publish('argocd', 'goodbye'))
      expect(await greetingIn(namespace)).toBe('goodbye')
    })
  })
})
