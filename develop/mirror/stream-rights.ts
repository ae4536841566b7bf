import { ClusterError } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { Session } from '../../project/session.ts'

/** Way in which this machine connects to the agent of a development container. */
export type AgentWay = 'port-forward' | 'exec'

/** Verbs that the user lacks on the subresources `exec` and `portforward` of Pods. */
export interface MissingRights {
  readonly exec: readonly string[]
  readonly portForward: readonly string[]
}

/** Permissions that a session needs, besides the synchronization of files. */
export interface StreamNeeds {
  /** True if programs are run in the container. */
  readonly commands: boolean
  /** True if the Pod uses the network of its node, where the agent must not listen on a port. */
  readonly hostNetwork: boolean
}

export interface ChosenWay {
  readonly way: AgentWay
  readonly notes: readonly string[]
}

/**
 * Verbs that a connection needs: the server checks the verb of the HTTP method and, since Kubernetes 1.35, also
 * `create`.
 */
const VERBS = ['get', 'create'] as const
const HINT =
  'ask for a Role with the verbs `get` and `create` on `pods/exec` and `pods/portforward`, as `edit` has them'

/** Returns the permissions on Pods that the user lacks. */
export async function missingRights(session: Session): Promise<MissingRights> {
  const [exec, portForward] = await Promise.all([missingVerbs(session, 'exec'), missingVerbs(session, 'portforward')])
  return { exec, portForward }
}

/**
 * Chooses the connection to the agent according to the user's permissions on Pods. Throws a UserError that lists the
 * missing permissions if no connection is possible, or if the session needs to run commands and the user lacks the
 * permission.
 */
export function chooseWay(
  missing: MissingRights,
  { commands, hostNetwork }: StreamNeeds,
  namespace: string,
): ChosenWay {
  const { exec, portForward } = missing
  const notes = notesOf(missing)
  const refuse = (text: string) => new UserError(`${text}; nothing was changed`, { notes, hint: HINT })
  if (exec.length > 0 && portForward.length > 0)
    throw refuse(`the Pods of ${namespace} can be reached neither by \`pods/exec\` nor by \`pods/portforward\``)
  if (exec.length > 0 && commands) throw refuse(`you may not run commands in the Pods of ${namespace}`)
  if (exec.length > 0 && hostNetwork)
    throw refuse('a Pod with `hostNetwork` is reached by `pods/exec` alone, which you may not use')
  if (hostNetwork) return { way: 'exec', notes: [] }
  if (portForward.length > 0)
    return { way: 'exec', notes: notes.map(text => `${text}: files and ports go over \`pods/exec\`, which is slower`) }
  return { way: 'port-forward', notes: notes.map(text => `${text}: no command can be run in the container`) }
}

/**
 * Returns the error for a connection that is refused while `up` runs, with the permissions that are missing now;
 * returns any other error unchanged.
 */
export async function withMissingRights(session: Session, error: unknown): Promise<unknown> {
  if (!(error instanceof ClusterError) || error.failure !== 'forbidden') return error
  try {
    const notes = notesOf(await missingRights(session))
    if (notes.length === 0) return error
    const text = `the Pods of ${session.namespace} cannot be reached any more`
    return new UserError(text, { notes, hint: HINT, cause: error })
  } catch {
    return error
  }
}

const notesOf = ({ exec, portForward }: MissingRights): readonly string[] =>
  [lacking('exec', exec), lacking('portforward', portForward)].filter(text => text !== undefined)

const lacking = (subresource: string, verbs: readonly string[]): string | undefined =>
  verbs.length === 0 ? undefined : `\`${verbs.join('` and `')}\` on \`pods/${subresource}\` is missing`

/**
 * Returns the verbs that the user lacks for a subresource of Pods. If the cluster rejects the query, assumes that the
 * user lacks none; a connection without the necessary verbs then fails.
 */
async function missingVerbs({ cluster, namespace, signal }: Session, subresource: string): Promise<readonly string[]> {
  const allowed = await Promise.all(
    VERBS.map(async verb => {
      const resourceAttributes = { namespace, verb, resource: 'pods', subresource }
      const review = {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        metadata: { name: '' },
        spec: { resourceAttributes },
      }
      try {
        const { status } = await cluster.create(review, { signal })
        return (status as { readonly allowed?: boolean } | undefined)?.allowed ?? true // of a review
      } catch (error) {
        if (error instanceof ClusterError && error.failure !== 'unreachable') return true
        throw error
      }
    }),
  )
  return VERBS.filter((_, index) => !allowed[index])
}
