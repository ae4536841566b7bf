import type { Cluster } from '../../adapters/kubernetes/cluster.ts'
import type { GivenUp } from '../../adapters/kubernetes/request.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { readableDuration } from '../../compiler/values/numbers/readable-duration.ts'
import { webhookRefusal } from '../../environment/plan/webhook-refusal.ts'
import { type ProbedWebhook, webhooksFor } from '../../environment/plan/webhooks-for.ts'

/** Time without an answer after which a request is reported, in milliseconds. */
const SILENT = 2000
/** Timeout for listing the webhooks after the deadline has passed, in milliseconds. */
const LOOKING = 2000

const LIST = '`kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations` lists the webhooks'

/** Report on the requests that were unfinished at the deadline. */
export interface Unanswered {
  readonly notes: readonly string[]
  readonly hint?: string
}

/**
 * Reports the requests that were being retried at the deadline, each failure once, and the requests without an answer.
 * A write is reported with the admission webhooks that the API server calls for it, because a webhook that hangs blocks
 * the write for up to 30 s without a message.
 */
export async function unanswered(cluster: Cluster | undefined, calls: readonly GivenUp[]): Promise<Unanswered> {
  const failing = calls.flatMap(({ method, path, failure }) => {
    if (!failure) return []
    const what = whatOf(path)
    return webhookRefusal(failure, what) ?? new UserError(`\`${method}\` of ${what} was retried: ${failure.message}`)
  })
  const silent = await silence(cluster, calls)
  const hint = failing.find(one => one.hint !== undefined)?.hint ?? silent.hint
  const notes = new Set([...failing.flatMap(one => [one.message, ...one.notes]), ...silent.notes])
  return { notes: [...notes], ...(hint !== undefined && { hint }) }
}

async function silence(cluster: Cluster | undefined, calls: readonly GivenUp[]): Promise<Unanswered> {
  const silent = calls.filter(one => one.silence >= SILENT && !one.failure)
  // Prefer the write: the API server answers other requests while a webhook blocks it.
  const first = silent.find(({ method }) => method !== 'GET') ?? silent[0]
  if (!first) return { notes: [] }
  const others = silent.length > 1 ? ` and of ${silent.length - 1} more` : ''
  const { method, path } = first
  const told = `\`${method}\` of ${whatOf(path)}${others} has had no answer for ${readableDuration(first.silence)}`
  if (method === 'GET' || !cluster) return { notes: [told] }
  const webhooks = await webhooksFor(cluster, { method, path }, AbortSignal.timeout(LOOKING))
  if (webhooks.length === 0) return { notes: [told], hint: `an admission webhook may not be responding; ${LIST}` }
  return { notes: [told, asksText(webhooks)], hint: `check the server of the webhook; ${LIST}` }
}

const asksText = (webhooks: readonly ProbedWebhook[]): string =>
  `the API server first calls the admission ${webhooks.length === 1 ? 'webhook' : 'webhooks'} ${webhooks.map(({ name, seconds }) => `\`${name}\` (timeout ${seconds} s)`).join(', ')}`

/** Returns the last two segments of a path: `deployments/web`. */
const whatOf = (path: string): string => `\`${path.split('?', 1)[0]!.split('/').slice(-2).join('/')}\``
