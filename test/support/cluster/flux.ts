import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentTarget } from '../../../gitops/agents/agents.ts'
import { type FluxSettings, fluxObjects } from '../../../gitops/agents/flux.ts'
import { git } from '../git/git.ts'
import { httpServer } from '../git/http-server.ts'
import { manifestFor, type Publishing, publishingFrom } from '../git/publishing.ts'
import { bareRepository, type GitServer } from '../git/repository.ts'
import { describeAll } from './application.ts'
import { type Cluster, eventually } from './cluster.ts'
import { type Controller, ensureControllers } from './controller.ts'
import { DOMAIN } from './examples.ts'

/** Returns true if the controllers of Flux run, after starting them where the test cluster is that of this machine. */
export const ensureFlux = (cluster: Cluster | undefined): Promise<boolean> =>
  ensureControllers(cluster, 'flux', '/apis/kustomize.toolkit.fluxcd.io/v1')

/** The folder of the application that `publishingToFlux` publishes. */
export const FLUX_TARGET = { application: 'shop', environment: 'staging', path: 'environments/staging/shop' }
export const FLUX_LOGIN = { username: 'publisher', password: 'correct horse' }

/** Makes a source, and a repository that asks for a password, in a folder. */
export async function publishingToFlux(
  root: string,
  text: string,
  namespace: string,
  environment = '',
): Promise<Publishing> {
  const bare = await bareRepository(root)
  const server = await httpServer(bare.repository, { user: FLUX_LOGIN.username, password: FLUX_LOGIN.password })
  const manifest = `${manifestFor(server.address, environment)}`
    .replace('shop-staging', namespace)
    .replace('staging.example.com', DOMAIN)
  return publishingFrom(root, server, { compose: text, manifest })
}

/** Flux as it follows one folder of a repository, with the objects that devctl writes for it. */
export interface Flux extends Controller {
  /** Returns the objects that it manages, as `Deployment/web`, sorted. */
  inventory(): Promise<readonly string[]>
  /** Texts of the events in which it says that it has changed something. */
  changes(): Promise<readonly string[]>
}

/** The part of a Flux object that the tests read. */
interface FluxObject {
  readonly status?: {
    readonly artifact?: { readonly revision: string }
    readonly lastAppliedRevision?: string
    readonly lastAttemptedRevision?: string
    readonly lastHandledReconcileAt?: string
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message: string }[]
    readonly inventory?: { readonly entries: readonly { readonly id: string }[] }
  }
}

interface FluxOptions {
  /** Existing namespace for Flux's objects. */
  readonly namespace: string
  readonly target: Omit<AgentTarget, 'repository' | 'branch'>
  readonly server: GitServer
  /** Credentials for reading the repository, if it requires them. */
  readonly login?: { readonly username: string; readonly password: string }
  /** Value of `spec.postBuild.substitute` of the Kustomization. */
  readonly substitute?: Readonly<Record<string, string>>
  readonly settings?: FluxSettings
  /** Directory for the files that this helper writes. */
  readonly folder: string
}

/** Seconds allowed for a reconciliation: the images exist, and Pods start within moments. */
const SECONDS = 120

/** Applies the GitRepository and the Kustomization, and the Secret that the first one reads. */
export async function startFlux(
  cluster: Cluster,
  { namespace, target, server, login, substitute, settings, folder }: FluxOptions,
): Promise<Flux> {
  const name = `${target.application}-${target.environment}`
  const kubectl = (...args: readonly string[]) => cluster.kubectl('--namespace', namespace, ...args)
  const secret = ['create', 'secret', 'generic', `${name}-git`]
  if (login) await kubectl(...secret, ...Object.entries(login).map(([key, value]) => `--from-literal=${key}=${value}`))
  const file = join(folder, 'flux.yaml')
  const text = fluxObjects({ ...target, repository: server.address, branch: 'main' }, settings)
  writeFileSync(file, adapted(text, namespace, { secret: login && `${name}-git`, substitute }))
  await kubectl('apply', '--filename', file)
  let asked = 0

  const paths = {
    source: `/apis/source.toolkit.fluxcd.io/v1/namespaces/${namespace}/gitrepositories/${name}`,
    kustomization: `/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/${namespace}/kustomizations/${name}`,
  }
  const explain = async () => {
    const own = await kubectl('get', 'gitrepositories,kustomizations', '--output=wide')
    return `${own}\n${await describeAll(cluster, target.namespace)}`
  }

  /** Asks for a reconciliation, and waits until it has ended as it should. */
  async function request(
    kind: keyof typeof paths,
    isDone: (status: NonNullable<FluxObject['status']>) => boolean,
    ready = 'True',
  ) {
    const at = `test-${++asked}`
    const annotation = { metadata: { annotations: { 'reconcile.fluxcd.io/requestedAt': at } } }
    const { status, body } = await cluster.send('PATCH', paths[kind], annotation, 'application/merge-patch+json')
    if (status !== 200) throw new Error(`${kind}: ${body}`)
    await eventually(
      `${kind} is reconciled`,
      async () => {
        const { status = {} } = await cluster.get<FluxObject>(paths[kind])
        const isReady = status.conditions?.some(one => one.type === 'Ready' && one.status === ready)
        return (isReady && status.lastHandledReconcileAt === at && isDone(status)) || undefined
      },
      { explain, seconds: SECONDS },
    )
  }

  /** Has the head of the branch fetched; gives its revision. */
  async function fetched(): Promise<string> {
    const revision = `main@sha1:${await git(server.repository, 'rev-parse', 'main')}`
    await request('source', status => status.artifact?.revision === revision)
    return revision
  }

  async function reconcile(): Promise<void> {
    const revision = await fetched()
    await request('kustomization', status => status.lastAppliedRevision === revision)
  }

  async function changes(): Promise<readonly string[]> {
    const selector = `involvedObject.kind=Kustomization,involvedObject.name=${name},reason=Progressing`
    const { items } = JSON.parse(await kubectl('get', 'events', '--field-selector', selector, '--output=json'))
    // A repeated event only increases its count.
    return (items as readonly { count?: number; message: string }[]).map(one => `${one.count} × ${one.message}`).sort()
  }

  return {
    name: 'Flux',
    reconcile,
    // It makes nothing again before it takes the next commit, and then waits for all of it to be well.
    mayDelete: async () => {},
    async fails() {
      const revision = await fetched()
      await request('kustomization', status => status.lastAttemptedRevision === revision, 'False')
    },
    async syncs() {
      await reconcile()
      return (await changes()).length
    },
    async inventory() {
      const { status } = await cluster.get<FluxObject>(paths.kustomization)
      // NAMESPACE_NAME_GROUP_KIND
      const names = status?.inventory?.entries.map(({ id }) => id.replace(/^[^_]*_(.*)_[^_]*_([^_]*)$/, '$2/$1'))
      return (names ?? []).sort()
    },
    changes,
    async remove() {
      // Its finalizer takes away what it has made, for which it needs the source no more.
      await kubectl('delete', 'kustomization', name, '--ignore-not-found', '--timeout=50s')
      await kubectl('delete', 'gitrepository', name, '--ignore-not-found', '--timeout=50s')
    },
  }
}

/**
 * Adapts the objects to a test: its namespace, the Secret that the comment asks for, and no long pause after a failure.
 */
function adapted(
  text: string,
  namespace: string,
  { secret, substitute }: Pick<FluxOptions, 'substitute'> & { readonly secret: string | undefined },
): string {
  const source = text.slice(0, text.indexOf('---'))
  const added = secret === undefined ? '' : `  secretRef:\n    name: ${secret}\n`
  const build = substitute === undefined ? '' : `  postBuild:\n    substitute: ${JSON.stringify(substitute)}\n`
  return `${source}${added}${text.slice(source.length)}${build}`
    .replaceAll('namespace: flux-system', `namespace: ${namespace}`)
    .replace('retryInterval: 1m', 'retryInterval: 3s')
}
