import { type ClusterError, webhookIn } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'

/**
 * Returns an error that names the admission webhook that made a request fail; undefined if the request failed for
 * another reason. `what` is the target of the request, such as `` `deployment/web` ``.
 */
export function webhookRefusal(
  error: ClusterError,
  what: string,
  notes: readonly string[] = [],
): UserError | undefined {
  const failure = webhookIn(error.message)
  if (!failure) return undefined
  const { name, refuses, said } = failure
  const all = [...notes, ...(said === '' ? [] : [said])]
  return refuses
    ? new UserError(`the admission webhook \`${name}\` denied ${what}`, {
        notes: all,
        hint: 'it is a rule of this cluster: fix what it reports, or ask the operators of the webhook',
        cause: error,
      })
    : new UserError(`the admission webhook \`${name}\` does not answer, so the cluster refused ${what}`, {
        notes: all,
        hint: 'its operators must fix it: `kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations` lists the webhooks',
        cause: error,
      })
}
