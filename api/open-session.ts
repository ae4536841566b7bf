import { hostname } from 'node:os'
import { isRunning } from '../adapters/git/process-identity.ts'
import type { KubeconfigAccess } from '../adapters/kubernetes/connection.ts'
import type { EndedRequest, GivenUp } from '../adapters/kubernetes/request.ts'
import { userName } from '../adapters/process/user-name.ts'
import { namesOfHost } from '../compiler/values/secrets/project-names.ts'
import type { Holder } from '../environment/apply/held-lease.ts'
import type { Clock } from '../environment/clock.ts'
import { isPlatform } from '../project/contexts/store.ts'
import { checkNamespace, type TargetOptions } from '../project/contexts/target.ts'
import type { Session } from '../project/session.ts'
import type { Workspace } from '../project/workspace.ts'

export interface SessionInput extends TargetOptions {
  /** Context of the kubeconfig. If absent, the context is chosen as project/contexts/target.ts describes. */
  readonly context?: string | undefined
  /**
   * Context and namespace that the manifest sets. They take precedence over the current context, but not over options
   * and environment variables.
   */
  readonly manifest?: TargetOptions | undefined
}

export interface OpenSessionOptions {
  /** Signal that aborts all work that is done with the session. */
  readonly signal: AbortSignal
  /** Called with every completed request. */
  readonly trace?: (exchange: EndedRequest) => void
  /** Called with requests that were cancelled because of the signal. */
  readonly giveUp?: (call: GivenUp) => void
  /** Called with the chosen target before any request is sent to the cluster. */
  readonly chosen?: (target: Session['target']) => void
}

/**
 * Chooses a cluster and a namespace, and sets up the connection without sending a request to the cluster. Throws a
 * UserError if no setting names a cluster or if the kubeconfig is invalid.
 */
export async function openSession(
  workspace: Pick<Workspace, 'cwd' | 'env' | 'secrets'>,
  { manifest, ...wish }: SessionInput,
  { signal, trace, giveUp, chosen }: OpenSessionOptions,
): Promise<Session> {
  const { findTargetWithHome } = await import('../platform/session/target-with-home.ts')
  const found = await findTargetWithHome(workspace, wish, manifest, signal)
  workspace.secrets?.addNames(targetNames(found))
  chosen?.(found)
  checkNamespace(found)
  const [{ access, target }, { toCluster }] = await Promise.all([
    openAccess(workspace, found, signal),
    import('../adapters/kubernetes/kube-cluster.ts'),
  ])
  return {
    cluster: toCluster(access, trace, giveUp),
    access,
    namespace: found.namespace,
    target,
    signal,
    clock,
    holder: holder(target, workspace.env),
  }
}

/** Returns the names of the target: the context, or the host of a platform, and the namespace. */
const targetNames = ({ context, namespace }: Session['target']): readonly string[] => [
  ...namesOfHost(context.replace(/^https?:\/\//, '')),
  namespace,
]

async function openAccess(
  workspace: Pick<Workspace, 'cwd' | 'env'>,
  target: Session['target'],
  signal: AbortSignal,
): Promise<{ readonly access: KubeconfigAccess; readonly target: Session['target'] }> {
  if (isPlatform(target.context)) {
    const { platformAccess } = await import('../platform/session/access.ts')
    return platformAccess(workspace, target, signal)
  }
  const { kubeconfigAccess } = await import('../adapters/kubernetes/connection.ts')
  return { access: await kubeconfigAccess(target.context, workspace.env, signal), target }
}

const clock: Clock = {
  now: () => Date.now(),
  every(milliseconds, run) {
    const timer = setInterval(run, milliseconds)
    return () => clearInterval(timer)
  },
}

/**
 * Returns the identity of this process, which other users see who want to work on the same environment. `isGone`
 * returns true for a process of the same user and machine that has ended.
 */
function holder({ stored }: Session['target'], env: Workspace['env']): Holder {
  const machine = `${stored.user ?? userName(env)}@${hostname()}`
  return {
    name: `${machine} (${process.pid})`,
    ...(stored.user && { person: stored.user }),
    isGone(name) {
      const id = name.startsWith(`${machine} (`) ? /\((\d+)\)$/.exec(name)?.[1] : undefined
      return id !== undefined && !isRunning(Number(id))
    },
  }
}
