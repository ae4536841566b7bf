import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { isPrefix } from '../rules/accounts/ci-trust.ts'
import { isTokenId } from '../rules/accounts/token.ts'
import { isUserId } from '../rules/names.ts'
import { DELIVERIES, DELIVERY_RESULTS, type DeliveryResult } from '../rules/previews/deliveries.ts'
import { PREVIEW_SCOPES, type PreviewScope } from '../rules/previews/previews.ts'
import { CODE_TRUSTS, type CodeTrust, FORK_POLICIES, type ForkPolicy } from '../rules/previews/pull-trust.ts'
import { HOOK_FORGES, type HookForge } from '../rules/previews/webhook-signature.ts'
import { MANAGED_LABEL, RECORD_LABEL, USER_LABEL, USERS_NAMESPACE } from './names.ts'

/** The immutable part of a webhook: a repository whose pull requests get previews. */
export interface HookSetup {
  readonly id: string
  readonly forge: HookForge
  /** The HTTPS clone URL, such as `https://git.example.com/team/shop`. */
  readonly repository: string
  /** The repository's id at the forge, because repository names can be reassigned. */
  readonly repositoryId: string
  /** The id of the user who created the webhook and owns the previews. */
  readonly owner: string
  readonly scope: PreviewScope
  readonly forks: ForkPolicy
  /** The prefix of the names of the webhook's previews. */
  readonly prefix: string
  /** Path of the manifest in the repository. */
  readonly file?: string
  /** Time of creation (RFC 3339). */
  readonly created: string
}

/** An open pull request, as of its last check. */
export interface PullRecord {
  readonly number: number
  readonly page: string
  /** Title of the pull request; used only for display. */
  readonly title?: string
  /** Name of the author at the forge; used only for display. */
  readonly author: string
  /** Name of the branch that the pull request proposes to merge; used only for display. */
  readonly branch?: string
  /** Clone URL of the repository that contains the pull request's branch; used only for display. */
  readonly from?: string
  readonly commit: string
  readonly trust: CodeTrust
  /** True if a user with write access has to approve the commit. */
  readonly isWaiting?: boolean
  readonly approved?: { readonly commit: string; readonly by: string; readonly time: string }
  readonly deployed?: { readonly commit: string; readonly trust: CodeTrust }
  /** Reason why the commit has no preview. */
  readonly problem?: string
  /** The platform's comment on the pull request: its id at the forge, and the state that it reports. */
  readonly comment?: { readonly id?: number; readonly told: string }
}

/** The mutable state of a webhook. */
export interface HookState {
  /** Numbers of the pull requests to check, the oldest first. */
  readonly look: readonly number[]
  readonly pulls: readonly PullRecord[]
  /** Digests of earlier deliveries (`rules/deliveries.ts`). */
  readonly seen: readonly string[]
}

/** A delivery that was signed with the secret of its webhook. It contains nothing secret. */
export interface DeliveryRecord {
  /** Time of the delivery (RFC 3339). */
  readonly time: string
  /** The event name that the forge sent, such as `pull_request`. */
  readonly event?: string
  readonly result: DeliveryResult
  /** The number of the pull request that the delivery is about. */
  readonly number?: number
  /** The reason why the delivery was ignored or refused. */
  readonly reason?: string
}

/** A state change of a webhook, caused by a delivery or by a check of its pull requests. */
export interface HookChange extends HookState {
  readonly lastDelivery?: DeliveryRecord
}

export interface HookRecord extends HookSetup, HookState {
  readonly lastDelivery?: DeliveryRecord
  /**
   * RFC 3339 time of a recent delivery that was refused because of its signature. Not every refused delivery is
   * recorded.
   */
  readonly lastUnsigned?: string
  /** The webhook's id in the settings of the repository, if the platform created it there. */
  readonly remote?: number
  /** The signing secret of the forge and the token for its API, both sealed. */
  readonly sealed: { readonly secret: string; readonly token: string }
  /** `resourceVersion` of the Secret. */
  readonly version: string
}

/**
 * Maximum number of pull requests that are remembered for one webhook and come from its repository itself. `MOST_FORKS`
 * is the maximum for pull requests that come from forks.
 */
export const MOST_PULLS = 100
export const MOST_FORKS = 100
/** Maximum number of pull requests of one webhook that wait to be checked. */
export const MOST_LOOKS = 1000
/** Label of webhooks with pull requests to check. The leader lists only webhooks with this label. */
export const LOOK_LABEL = 'dev.platform/look'

/** Label of webhooks with comments to write. */
export const TELL_LABEL = 'dev.platform/tell'

/**
 * Returns the final state that the comment on a pull request has to report; undefined if there is nothing to report.
 */
export function finalTold({ isWaiting, problem, commit, deployed }: PullRecord): string | undefined {
  if (isWaiting) return `waits ${commit}`
  if (problem !== undefined) return `refused ${commit}`
  return deployed && `deployed ${deployed.commit}`
}

/** Returns true if the comment on a pull request is out of date. */
export function isUntold(pull: PullRecord): boolean {
  const told = finalTold(pull)
  return told !== undefined && told !== pull.comment?.told
}

export const hookRef = (id: string) =>
  ({ apiVersion: 'v1', kind: 'Secret', name: `h-${id}`, namespace: USERS_NAMESPACE }) as const

/**
 * Returns the context to which a secret or token is bound when it is sealed. As a result, it can be opened only for
 * this webhook and repository.
 */
export const hookSealedFor = ({ id, forge, repository }: HookSetup, what: 'secret' | 'token'): string =>
  JSON.stringify(['hook', id, forge, repository, what])

/** Returns a new record with an empty state. */
export function fromHook(setup: HookSetup, sealed: HookRecord['sealed']): KubeObject {
  const { apiVersion, kind, name, namespace } = hookRef(setup.id)
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      namespace,
      labels: { [RECORD_LABEL]: 'hook', [MANAGED_LABEL]: 'true', [USER_LABEL]: setup.owner },
    },
    type: 'dev.platform/hook',
    data: { setup: encode(setup), sealed: encode(sealed) },
  }
}

/**
 * Returns the pull requests to remember, in their original order. Any user of the forge can open a pull request from a
 * fork, so pull requests from forks never displace those from the repository itself. Among the forks, approved or
 * deployed pull requests have priority, then those that wait for approval. If too many of these wait, the newest pull
 * requests of the authors with the most pull requests are dropped.
 */
export function keptPulls(pulls: readonly PullRecord[]): readonly PullRecord[] {
  const own = pulls.filter(one => one.trust === 'repository').slice(-MOST_PULLS)
  const forks = pulls.filter(one => one.trust === 'fork')
  const deployed = forks.filter(one => one.deployed || one.approved).slice(-MOST_FORKS)
  const waiting = ofManyAuthors(
    forks.filter(one => one.isWaiting && !one.deployed && !one.approved),
    MOST_FORKS - deployed.length,
  )
  const room = MOST_FORKS - deployed.length - waiting.length
  const others = forks.filter(one => !one.isWaiting && !one.deployed && !one.approved)
  const kept = new Set([...own, ...deployed, ...waiting, ...(room > 0 ? others.slice(-room) : [])])
  return pulls.filter(one => kept.has(one))
}

function ofManyAuthors(pulls: readonly PullRecord[], most: number): readonly PullRecord[] {
  const byAge = pulls.toSorted((a, b) => a.number - b.number)
  const before = new Map<string, number>()
  const ranked = byAge.map(pull => {
    const rank = before.get(pull.author) ?? 0
    before.set(pull.author, rank + 1)
    return { pull, rank }
  })
  // First the first pull request of each author, then the second of each, and so on.
  return ranked
    .sort((a, b) => a.rank - b.rank)
    .slice(0, most)
    .map(({ pull }) => pull)
}

/** Returns the patch that changes the state. Entries beyond the limits are dropped. */
export const fromHookState = ({ look, pulls, seen }: HookState) => ({
  metadata: {
    labels: {
      [LOOK_LABEL]: look.length > 0 ? 'true' : null,
      [TELL_LABEL]: keptPulls(pulls).some(isUntold) ? 'true' : null,
    },
  },
  data: {
    state: encode({
      look: [...new Set(look)].slice(0, MOST_LOOKS),
      pulls: keptPulls(pulls),
      seen: seen.slice(-DELIVERIES),
    }),
  },
})

/**
 * Returns the patch that records the last signed delivery. The patch changes nothing else, so it cannot conflict with
 * another write.
 */
export const fromDelivery = (delivery: DeliveryRecord) => ({ data: { delivery: encode(delivery) } })

/** Returns the patch that records the time of a delivery without a valid signature. */
export const fromUnsigned = (time: string) => ({ data: { unsigned: encode({ time }) } })

/** Returns the patch that records the id of a webhook in the settings of its repository. */
export const fromRemoteHook = (remote: number) => ({ data: { remote: encode({ id: remote }) } })

/** Parses a webhook. Returns undefined if the object is not a webhook or is invalid; deliveries to it are refused. */
export function toHook({ metadata, data }: KubeObject): HookRecord | undefined {
  const parts = record(data)
  const [setup, sealed] = [toSetup(decode(parts['setup'])), decode(parts['sealed'])]
  const [secret, token] = [text(sealed['secret']), text(sealed['token'])]
  if (!setup || secret === undefined || token === undefined || metadata.resourceVersion === undefined) return undefined
  if (metadata.name !== hookRef(setup.id).name || metadata.labels?.[USER_LABEL] !== setup.owner) return undefined
  const { id: remote } = decode(parts['remote'])
  const lastDelivery = toDelivery(decode(parts['delivery']))
  const lastUnsigned = toTime(decode(parts['unsigned'])['time'])
  return {
    ...setup,
    ...toState(decode(parts['state'])),
    ...(lastDelivery && { lastDelivery }),
    ...(lastUnsigned !== undefined && { lastUnsigned }),
    ...(isNumber(remote) && { remote }),
    sealed: { secret, token },
    version: metadata.resourceVersion,
  }
}

function toSetup(found: Fields): HookSetup | undefined {
  const keys = ['id', 'repository', 'repositoryId', 'owner', 'prefix', 'created'] as const
  const [id, repository, repositoryId, owner, prefix, created] = keys.map(key => text(found[key]))
  const [forge, scope, forks] = [
    HOOK_FORGES.find(one => one === found['forge']),
    PREVIEW_SCOPES.find(one => one === found['scope']),
    FORK_POLICIES.find(one => one === found['forks']),
  ]
  if (!id || !isTokenId(id) || !owner || !isUserId(owner) || !prefix || !isPrefix(prefix)) return undefined
  if (!repository?.startsWith('https://') || !repositoryId || !created || !forge || !scope || !forks) return undefined
  const file = text(found['file'])
  return {
    id,
    forge,
    repository,
    repositoryId,
    owner,
    scope,
    forks,
    prefix,
    ...(file !== undefined && { file }),
    created,
  }
}

function toState(found: Fields): HookState {
  const pulls = list(found['pulls']).flatMap(one => toPull(record(one)) ?? [])
  return {
    look: list(found['look']).filter(isNumber).slice(0, MOST_LOOKS),
    pulls: keptPulls([...new Map(pulls.map(one => [one.number, one])).values()]),
    seen: list(found['seen'])
      .filter(one => typeof one === 'string')
      .slice(-DELIVERIES),
  }
}

function toDelivery(found: Fields): DeliveryRecord | undefined {
  const time = toTime(found['time'])
  const result = DELIVERY_RESULTS.find(one => one === found['result'])
  if (time === undefined || !result) return undefined
  const [event, reason] = [text(found['event']), text(found['reason'])]
  const number = found['number']
  return {
    time,
    ...(event !== undefined && { event }),
    result,
    ...(isNumber(number) && { number }),
    ...(reason !== undefined && { reason }),
  }
}

const toTime = (value: unknown): string | undefined =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value)) ? value : undefined

function toPull(found: Fields): PullRecord | undefined {
  const [page, author, commit] = ['page', 'author', 'commit'].map(key => text(found[key]))
  const number = found['number']
  const trust = toTrust(found['trust'])
  if (!isNumber(number) || !page || !author || !isCommit(commit) || !trust) return undefined
  const [approved, deployed] = [record(found['approved']), record(found['deployed'])]
  const [by, time] = [text(approved['by']), text(approved['time'])]
  const deployedTrust = toTrust(deployed['trust'])
  const [problem, title, branch, from] = ['problem', 'title', 'branch', 'from'].map(key => text(found[key]))
  const { id, told } = record(found['comment'])
  return {
    number,
    page,
    ...(title !== undefined && { title }),
    author,
    ...(branch !== undefined && { branch }),
    ...(from !== undefined && { from }),
    commit,
    trust,
    ...(found['isWaiting'] === true && { isWaiting: true }),
    // An incomplete approval is ignored.
    ...(isCommit(approved['commit']) && by && time && { approved: { commit: approved['commit'], by, time } }),
    ...(isCommit(deployed['commit']) &&
      deployedTrust && { deployed: { commit: deployed['commit'], trust: deployedTrust } }),
    ...(problem !== undefined && { problem }),
    ...(typeof told === 'string' && { comment: { told, ...(isNumber(id) && { id }) } }),
  }
}

const toTrust = (value: unknown): CodeTrust | undefined => CODE_TRUSTS.find(one => one === value)

/** Returns true for a full commit hash. An abbreviated hash could also match another commit. */
export const isCommit = (value: unknown): value is string =>
  typeof value === 'string' && /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(value)

const isNumber = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0

type Fields = Readonly<Record<string, unknown>>

const record = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64')

function decode(value: unknown): Fields {
  if (typeof value !== 'string') return {}
  try {
    return record(JSON.parse(Buffer.from(value, 'base64').toString()))
  } catch {
    return {}
  }
}
