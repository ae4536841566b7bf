import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { isUserId } from '../rules/names.ts'
import { CODE_TRUSTS, type CodeTrust } from '../rules/previews/pull-trust.ts'
import { RUN_ACTIONS, type RunAction, type RunState } from '../rules/runs/run-states.ts'
import { isUlid } from '../rules/ulid.ts'
import { MANAGED_LABEL, RECORD_LABEL, RUNS_NAMESPACE, rfc3339, USER_LABEL } from './names.ts'

/** The immutable part of a run: the request. */
export interface WantedRun {
  /** A ULID: ids sort by age. */
  readonly id: string
  readonly namespace: string
  /** UID of the namespace, which distinguishes it from a later namespace of the same name. */
  readonly namespaceUid: string
  readonly environment: string
  readonly action: RunAction
  /** The id of the user who requested the run. */
  readonly user: string
  /** Repository to clone; absent for a destroy if the repository is unknown. */
  readonly repository?: string
  /** A branch or a tag; absent for the main branch. */
  readonly branch?: string
  /** Path of the manifest in the repository. */
  readonly file?: string
  /** True if a destroy also deletes volumes. */
  readonly volumes?: boolean
  /** The exact commit to clone, even if the branch has newer commits when the run starts. */
  readonly commit?: string
  /** Id of the deletion, if this run is a destroy that is part of the deletion of its namespace. */
  readonly deletion?: string
  /** The id of the user who requested the deletion; absent if no user requested it. */
  readonly deletionBy?: string
  /** Origin of the code, if no user started the run. Such a run gets fewer secrets of the user than other runs. */
  readonly trust?: CodeTrust
  /** The id of the webhook that started the run. */
  readonly hook?: string
  /** The names of the run's variables, truncated if there are many. The values are in a Secret. */
  readonly variables?: readonly string[]
  /** Number of variables whose names are not listed. */
  readonly moreVariables?: number
  /**
   * True if the run clones with a credential that was part of the request. The credential is deleted when the run ends.
   */
  readonly hasLogin?: boolean
}

/** Reason why a run has to stop. */
export interface RunStop {
  readonly why: 'cancelled' | 'replaced' | 'refused'
  /** The id of the user who stopped the run; absent if the platform stopped it. */
  readonly by?: string
  /** RFC 3339 time at which the stop was requested. */
  readonly time: string
  readonly reason?: string
}

/** Facts about a run that were not known when it was created. */
export interface FoundRun {
  readonly commit?: string
  /**
   * The saved log: the number of Secrets that contain it, the number of its first line, and the number of its lines.
   */
  readonly log?: RunLog
  /** Short reason why the run failed. */
  readonly reason?: string
  /** The result that the Pod of the run shows. The Job shows it a little later. */
  readonly end?: RunEnd
}

export interface RunEnd {
  readonly state: 'succeeded' | 'failed'
  /** RFC 3339 time at which the run ended. */
  readonly time: string
}

export interface RunLog {
  readonly parts: number
  /** The number of the first line that was kept; line numbers start at 1. */
  readonly first: number
  readonly lines: number
}

/** A run: a Job of `devctl-runs`. */
export interface RunRecord extends WantedRun {
  /** RFC 3339 time at which the run was created. `started` and `ended` have the same format. */
  readonly created: string
  readonly started?: string
  readonly ended?: string
  readonly state: RunState
  /** True if the run is completed: its log is saved, and its credentials are deleted. */
  readonly isSettled: boolean
  readonly stop?: RunStop
  readonly found: FoundRun
  /** UID and `resourceVersion` of the Job. */
  readonly uid: string
  readonly version: string
}

/** Maximum number of characters of variable names in a record. There is a limit because many runs are read at once. */
const NAMES = 4000

const PREFIX = 'dev.platform/'
const WANTED = `${PREFIX}run`
export const STOP = `${PREFIX}stop`
export const FOUND = `${PREFIX}found`
/** Label of runs that are not completed yet. The leader lists only these runs. */
export const LIVE_LABEL = `${PREFIX}live`
export const NAMESPACE_LABEL = `${PREFIX}namespace`
export const ENVIRONMENT_LABEL = `${PREFIX}environment`

export const runName = (id: string): string => `r-${id}`
/**
 * Returns the name of the Secret for the clone container of a run. `inputSecret` returns the name of the Secret for the
 * container of the run itself. Both Secrets exist only while the run is active.
 */
export const cloneSecret = (id: string): string => `r-${id}-clone`
export const inputSecret = (id: string): string => `r-${id}-input`
/** Returns the context that the sealed clone credential of a run is bound to. */
export const loginSealedFor = (id: string): string => JSON.stringify(['run', id, 'login'])
/**
 * Returns the name of the Secret with a run's variables and the clone credential from its request. The Secret exists
 * until the run ends.
 */
export const heldSecret = (id: string): string => `r-${id}-held`
export const logSecret = (id: string, part: number): string => `r-${id}-log-${part}`

export const jobRef = (id: string) =>
  ({ apiVersion: 'batch/v1', kind: 'Job', name: runName(id), namespace: RUNS_NAMESPACE }) as const

export const runLabels = ({ namespace, environment, action, user }: WantedRun) => ({
  [RECORD_LABEL]: 'run',
  [MANAGED_LABEL]: 'true',
  [NAMESPACE_LABEL]: namespace,
  [ENVIRONMENT_LABEL]: environment,
  [`${PREFIX}action`]: action,
  [USER_LABEL]: user,
})

/** Returns the Job to create for a run. The Job stays suspended until the run's turn comes. */
export const fromRun = (wanted: WantedRun, spec: Readonly<Record<string, unknown>>): KubeObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: {
    name: runName(wanted.id),
    namespace: RUNS_NAMESPACE,
    labels: { ...runLabels(wanted), [LIVE_LABEL]: 'true' },
    annotations: { [WANTED]: JSON.stringify({ ...wanted, ...namesIn(wanted) }) },
  },
  spec: { ...spec, suspend: true },
})

/**
 * Returns the fields to record instead of `variables` if the names are longer than the size limit: the names that fit,
 * and the number of names that were omitted. Returns an empty object if all names fit.
 */
function namesIn({ variables = [] }: WantedRun): Pick<WantedRun, 'variables' | 'moreVariables'> {
  let left = NAMES
  const rest = variables.findIndex(name => {
    left -= name.length
    return left < 0
  })
  return rest === -1 ? {} : { variables: variables.slice(0, rest), moreVariables: variables.length - rest }
}

/** Returns the owner references that make a run the owner of an object. */
export const ownedBy = ({ id, uid }: Pick<RunRecord, 'id' | 'uid'>) => [
  { apiVersion: 'batch/v1', kind: 'Job', name: runName(id), uid, controller: false },
]

/** Parses a Job. Returns undefined if the Job is not a run or is invalid; such a Job is skipped. */
export function toRun({ metadata, spec, status }: KubeObject): RunRecord | undefined {
  const { labels = {}, annotations = {}, uid, resourceVersion } = metadata
  const wanted = toWanted(annotations[WANTED])
  if (!wanted || uid === undefined || resourceVersion === undefined) return undefined
  // Runs are listed by their labels, so the labels have to match the record.
  if (metadata.name !== runName(wanted.id) || labels[NAMESPACE_LABEL] !== wanted.namespace) return undefined
  if (labels[ENVIRONMENT_LABEL] !== wanted.environment || labels[USER_LABEL] !== wanted.user) return undefined
  const stop = toStop(annotations[STOP])
  const found = toFound(annotations[FOUND])
  const { state, started, ended } = stateOf(record(spec), record(status), stop, found.end)
  return {
    ...wanted,
    created: metadata.creationTimestamp ?? rfc3339(0),
    ...(started !== undefined && { started }),
    ...(ended !== undefined && { ended }),
    state,
    isSettled: labels[LIVE_LABEL] !== 'true',
    ...(stop && { stop }),
    found,
    uid,
    version: resourceVersion,
  }
}

interface Timed {
  readonly state: RunState
  readonly started?: string | undefined
  readonly ended?: string | undefined
}

function stateOf(spec: Fields, status: Fields, stop: RunStop | undefined, noted: RunEnd | undefined): Timed {
  const conditions = Array.isArray(status['conditions']) ? status['conditions'].map(record) : []
  const isTrue = (type: string) => conditions.find(one => one['type'] === type && one['status'] === 'True')
  const started = text(status['startTime'])
  const [complete, failed] = [isTrue('Complete'), isTrue('Failed')]
  // A result that was recorded is not overwritten.
  if (noted) return { state: noted.state, started, ended: noted.time }
  const end = complete ?? failed
  if (end) return { state: complete ? 'succeeded' : 'failed', started, ended: text(end['lastTransitionTime']) }
  const isActive = typeof status['active'] === 'number' && status['active'] > 0
  const isSuspended = spec['suspend'] === true
  if (stop)
    return isSuspended && !isActive ? { state: stop.why, started, ended: stop.time } : { state: 'stopping', started }
  return isSuspended ? { state: 'queued' } : { state: 'running', started }
}

function toWanted(annotation: unknown): WantedRun | undefined {
  const found = parse(annotation)
  const [id, namespace, namespaceUid, environment, user] = [
    'id',
    'namespace',
    'namespaceUid',
    'environment',
    'user',
  ].map(key => text(found[key]))
  const action = RUN_ACTIONS.find(one => one === found['action'])
  if (!id || !isUlid(id) || !namespace || !namespaceUid || !environment || !user || !isUserId(user) || !action)
    return undefined
  const [repository, branch, file, commit, deletion, deletionBy] = [
    'repository',
    'branch',
    'file',
    'commit',
    'deletion',
    'deletionBy',
  ].map(key => text(found[key]))
  if (action === 'deploy' && repository === undefined) return undefined
  const trust = CODE_TRUSTS.find(one => one === found['trust'])
  // An unknown trust value could mean any rights, so the run is rejected.
  if (found['trust'] !== undefined && !trust) return undefined
  const hook = text(found['hook'])
  const [variables, moreVariables] = [found['variables'], found['moreVariables']]
  return {
    id,
    namespace,
    namespaceUid,
    environment,
    action,
    user,
    ...(repository !== undefined && { repository }),
    ...(branch !== undefined && { branch }),
    ...(file !== undefined && { file }),
    ...(found['volumes'] === true && { volumes: true }),
    ...(commit !== undefined && isCommit(commit) && { commit }),
    ...(deletion !== undefined && { deletion }),
    ...(deletionBy !== undefined && isUserId(deletionBy) && { deletionBy }),
    ...(trust && { trust }),
    ...(hook !== undefined && { hook }),
    ...(Array.isArray(variables) && { variables: variables.filter(one => typeof one === 'string') }),
    // The value was validated above, so the cast is safe.
    ...(Number.isSafeInteger(moreVariables) && { moreVariables: moreVariables as number }),
    ...(found['hasLogin'] === true && { hasLogin: true }),
  }
}

function toStop(annotation: unknown): RunStop | undefined {
  if (annotation === undefined) return undefined
  const found = parse(annotation)
  const why = (['cancelled', 'replaced', 'refused'] as const).find(one => one === found['why'])
  const [by, time, reason] = ['by', 'time', 'reason'].map(key => text(found[key]))
  // An annotation with invalid content still means that the run has to stop.
  return {
    why: why ?? 'cancelled',
    time: time ?? rfc3339(0),
    ...(by !== undefined && { by }),
    ...(reason !== undefined && { reason }),
  }
}

function toFound(annotation: unknown): FoundRun {
  const found = parse(annotation)
  const [commit, reason] = [text(found['commit']), text(found['reason'])]
  const log = record(found['log'])
  const [parts, first, lines] = ['parts', 'first', 'lines'].map(key => log[key])
  const end = record(found['end'])
  const endState = (['succeeded', 'failed'] as const).find(one => one === end['state'])
  const time = text(end['time'])
  const isLog = [parts, first, lines].every(one => Number.isSafeInteger(one) && (one as number) >= 0)
  return {
    ...(commit !== undefined && isCommit(commit) && { commit }),
    ...(reason !== undefined && { reason }),
    ...(endState && time !== undefined && { end: { state: endState, time } }),
    // Validated above.
    ...(isLog && { log: { parts: parts as number, first: first as number, lines: lines as number } }),
  }
}

const isCommit = (text: string): boolean => /^[0-9a-f]{40,64}$/.test(text)

type Fields = Readonly<Record<string, unknown>>

const record = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

function parse(value: unknown): Fields {
  if (typeof value !== 'string') return {}
  try {
    return record(JSON.parse(value))
  } catch {
    return {}
  }
}
