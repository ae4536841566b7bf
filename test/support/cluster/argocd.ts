import { argocdApplication } from '../../../gitops/agents/argocd.ts'
import { git } from '../git/git.ts'
import type { GitServer } from '../git/repository.ts'
import { describeAll } from './application.ts'
import { type Cluster, eventually } from './cluster.ts'
import { type Controller, ensureControllers } from './controller.ts'

/** Argo CD as it follows one folder of a repository. */
export interface Argocd extends Controller {
  /** Waits until one object, as `HTTPRoute/web`, is as the head of the branch has it, whatever its health. */
  isSynced(object: string): Promise<void>
}

/**
 * Returns true if the controllers of Argo CD run, after starting them where the test cluster is that of this machine.
 */
export const ensureArgocd = (cluster: Cluster | undefined): Promise<boolean> =>
  ensureControllers(cluster, 'argocd', '/apis/argoproj.io/v1alpha1/namespaces/argocd/appprojects/default')

/** The part of an Application that the tests read. */
interface Application {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> }
  readonly status?: {
    readonly sync?: { readonly status: string; readonly revision?: string }
    readonly health?: { readonly status: string }
    readonly conditions?: readonly { readonly type: string; readonly message: string }[]
    readonly history?: readonly { readonly revision: string }[]
    readonly operationState?: {
      readonly phase: string
      readonly message?: string
      readonly syncResult?: { readonly revision: string }
    }
    readonly resources?: readonly {
      readonly kind: string
      readonly name: string
      readonly status?: string
      readonly health?: { readonly status: string; readonly message?: string }
    }[]
  }
}

export interface ArgocdOptions {
  /** Namespace of the application, and the name of the Application. */
  readonly namespace: string
  readonly path: string
  readonly server: GitServer
  readonly createNamespace?: boolean
  /** Entries of `spec.syncPolicy.syncOptions`, besides those written for all applications. */
  readonly syncOptions?: readonly string[]
  /** Annotation `argocd.argoproj.io/compare-options`. */
  readonly compareOptions?: string
  /** Value of `spec.ignoreDifferences`. */
  readonly ignoreDifferences?: readonly object[]
}

/** Seconds allowed for a sync: the images exist, and Pods start within moments. */
const SECONDS = 150

/** Makes the Application that `gitops init` writes, with the options of a test in place of its own. */
export async function startArgocd(cluster: Cluster, options: ArgocdOptions): Promise<Argocd> {
  const {
    namespace,
    path,
    server,
    createNamespace = false,
    syncOptions = [],
    compareOptions,
    ignoreDifferences,
  } = options
  const name = namespace
  const text = argocdApplication({
    application: namespace,
    namespace,
    repository: server.address,
    branch: 'main',
    path,
    createNamespace,
  })
  const at = `/apis/argoproj.io/v1alpha1/namespaces/argocd/applications/${name}`
  const { parse } = await import('yaml')
  const application = parse(text)
  application.metadata.annotations = {
    ...application.metadata.annotations,
    ...(compareOptions !== undefined && { 'argocd.argoproj.io/compare-options': compareOptions }),
  }
  const own = application.spec.syncPolicy.syncOptions.filter((one: string) => !one.startsWith('ServerSideApply='))
  application.spec.syncPolicy.syncOptions = [...own, ...syncOptions]
  if (ignoreDifferences) application.spec.ignoreDifferences = ignoreDifferences
  const made = await cluster.send('POST', at.slice(0, at.lastIndexOf('/')), application)
  if (made.status !== 201) throw new Error(`application ${name}: ${made.body}`)

  const read = () => cluster.get<Application>(at)

  const explain = async () => {
    const { status = {} } = await read()
    const { sync, health, conditions, operationState, resources = [] } = status
    const odd = resources
      .filter(one => one.status !== 'Synced' || (one.health !== undefined && one.health.status !== 'Healthy'))
      .map(one => `${one.kind}/${one.name} ${one.status} ${one.health?.status} ${one.health?.message ?? ''}`)
    return [
      `${sync?.status} at ${sync?.revision}, ${health?.status}`,
      `${operationState?.phase} ${operationState?.syncResult?.revision}: ${operationState?.message}`,
      JSON.stringify(conditions ?? []),
      ...odd,
      await describeAll(cluster, namespace),
    ].join('\n')
  }

  /** Asks for a comparison, and waits until it has been made. */
  async function refresh(kind: 'normal' | 'hard' = 'normal'): Promise<Application> {
    const annotations = { 'argocd.argoproj.io/refresh': kind }
    const { status, body } = await cluster.send(
      'PATCH',
      at,
      { metadata: { annotations } },
      'application/merge-patch+json',
    )
    if (status !== 200) throw new Error(`${name}: ${body}`)
    return eventually(
      `${name} is compared`,
      async () => {
        const application = await read()
        return application.metadata.annotations?.['argocd.argoproj.io/refresh'] === undefined ? application : undefined
      },
      { explain, seconds: SECONDS },
    )
  }

  const head = () => git(server.repository, 'rev-parse', 'main')

  /**
   * Waits until the head of the branch reaches a state; requests a refresh from time to time, because an Application
   * reports a change of its objects late.
   */
  async function until(what: string, isThere: (status: NonNullable<Application['status']>) => boolean): Promise<void> {
    const revision = await head()
    await refresh()
    let looked = Date.now()
    await eventually(
      `${name} ${what}`,
      async () => {
        const { status } = await read()
        if (status?.sync?.revision === revision && isThere(status)) return true
        if (Date.now() - looked < 3000) return undefined
        looked = Date.now()
        await refresh()
        return undefined
      },
      { explain, seconds: SECONDS },
    )
  }

  const isDone = ({ sync, health, operationState }: NonNullable<Application['status']>) =>
    sync?.status === 'Synced' && health?.status === 'Healthy' && operationState?.phase === 'Succeeded'

  return {
    name: 'Argo CD',
    reconcile: () => until('is Synced and Healthy', isDone),
    // Before that it would repair what is deleted.
    mayDelete: () => until('has the head of the branch', () => true),
    fails: () =>
      until(
        'tells of a failure',
        ({ health, operationState }) =>
          health?.status === 'Degraded' || ['Failed', 'Error'].includes(operationState?.phase ?? ''),
      ),
    isSynced: object =>
      until(`has ${object} in sync`, ({ resources = [] }) =>
        resources.some(({ kind, name, status }) => `${kind}/${name}` === object && status === 'Synced'),
      ),
    async syncs() {
      for (const kind of ['normal', 'hard', 'normal'] as const) await refresh(kind)
      const { status = {} } = await read()
      if (!isDone(status)) throw new Error(`${name} does not stay as it was\n${await explain()}`)
      return status.history?.length ?? 0
    },
    async remove() {
      await cluster.send('DELETE', at)
      await eventually(`${name} is gone`, async () => (await cluster.send('GET', at)).status === 404 || undefined, {
        explain,
        seconds: SECONDS,
      })
    },
  }
}
