import type { Cluster } from '../../adapters/kubernetes/cluster.ts'
import type { GivenUp } from '../../adapters/kubernetes/request.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { webhookRefusal } from '../../operations/objects/webhook-refusal.ts'
import { type AskedWebhook, webhooksFor } from '../../operations/objects/webhooks-for.ts'
import { readableDuration } from '../options/duration.ts'

/** Milliseconds without an answer that are worth telling. */
const SILENT = 2000
/** Milliseconds for finding out which webhooks there are: the time is up already. */
const LOOKING = 2000

const LIST = '`kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations` lists the webhooks'

/** What there is to say of calls that were not over at the deadline. */
export interface Unanswered {
  readonly notes: readonly string[]
  readonly hint?: string
}

/**
 * What was being tried again when the time was up, each failure once, and what had no answer: of a write, with the admission webhooks that the cluster asks about it, since
 * one that hangs does so for up to 30 s without a word.
 */
export async function unanswered(cluster: Cluster | undefined, calls: readonly GivenUp[]): Promise<Unanswered> {
  const failing = calls.flatMap(({ method, path, failure }) => {
    if (!failure) return []
    const what = whatOf(path)
    return (
      webhookRefusal(failure, what) ?? new UserError(`\`${method}\` of ${what} was tried again: ${failure.message}`)
    )
  })
  const silent = await silence(cluster, calls)
  const hint = failing.find(one => one.hint !== undefined)?.hint ?? silent.hint
  const notes = new Set([...failing.flatMap(one => [one.message, ...one.notes]), ...silent.notes])
  return { notes: [...notes], ...(hint !== undefined && { hint }) }
}

async function silence(cluster: Cluster | undefined, calls: readonly GivenUp[]): Promise<Unanswered> {
  const silent = calls.filter(one => one.silence >= SILENT && !one.failure)
  // What others ask for meanwhile is answered: it is the write that something holds.
  const first = silent.find(({ method }) => method !== 'GET') ?? silent[0]
  if (!first) return { notes: [] }
  const others = silent.length > 1 ? ` and of ${silent.length - 1} more` : ''
  const { method, path } = first
  const told = `\`${method}\` of ${whatOf(path)}${others} has had no answer for ${readableDuration(first.silence)}`
  if (method === 'GET' || !cluster) return { notes: [told] }
  const webhooks = await webhooksFor(cluster, { method, path }, AbortSignal.timeout(LOOKING))
  if (webhooks.length === 0) return { notes: [told], hint: `an admission webhook may hang: ${LIST}` }
  return { notes: [told, asksText(webhooks)], hint: `see whether what it asks is well; ${LIST}` }
}

const asksText = (webhooks: readonly AskedWebhook[]): string =>
  `before that the cluster asks the admission ${webhooks.length === 1 ? 'webhook' : 'webhooks'} ${webhooks.map(({ name, seconds }) => `\`${name}\` (for ${seconds} s at most)`).join(', ')}`

/** `deployments/web`. */
const whatOf = (path: string): string => `\`${path.split('?', 1)[0]!.split('/').slice(-2).join('/')}\``
