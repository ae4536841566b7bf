import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { isUserId } from '../rules/names.ts'
import { FALLING_ASLEEP, WOKEN } from './asleep.ts'
import { DELETION, type Deletion, fromDeletion, toDeletion } from './deletion.ts'
import { MANAGED_LABEL, RECORD_LABEL } from './names.ts'
import { fromPreview, type PreviewSource, toPreview } from './preview.ts'

const KINDS = ['namespace', 'personal', 'preview'] as const
export type NamespaceKind = (typeof KINDS)[number]
const STATUSES = ['Active', 'Sleeping', 'Waking', 'Deleting', 'DeleteFailed'] as const
export type NamespaceStatus = (typeof STATUSES)[number]

/** A namespace that the platform created. */
export interface ManagedNamespace {
  readonly name: string
  /** UID assigned by Kubernetes; a later namespace of the same name has a different UID. */
  readonly uid?: string
  readonly kind: NamespaceKind
  readonly status: NamespaceStatus
  /** The id of the user who owns the namespace. */
  readonly owner: string
  /** True for a global namespace, which all users may view and administrators manage. */
  readonly isGlobal?: boolean
  /** RFC 3339 time at which the namespace was created. */
  readonly created: string
  readonly lastActive: string
  /** True if the namespace is never put to sleep or deleted because of inactivity. */
  readonly isPersistent?: boolean
  /** True if the namespace runs code of a fork, so it never gets any secrets. */
  readonly isUntrusted?: boolean
  /** RFC 3339 time at which the namespace is deleted, even if it is in use; absent if it does not expire. */
  readonly expires?: string
  /** RFC 3339 time of the last wake; absent if the namespace was never woken. */
  readonly woken?: string
  /** RFC 3339 time at which a sleep began that is not complete yet; absent if there is none. */
  readonly fallingAsleep?: string
  /**
   * Id that image pull credentials must contain to be valid. It changes when a member leaves, which revokes earlier
   * credentials.
   */
  readonly pullLogins?: string
  /** The deletion request, if the namespace is being deleted. */
  readonly deletion?: Deletion
  /** The reason why the deletion of the namespace has not finished yet. */
  readonly waits?: string
  /** Source of the preview, if the namespace is one. */
  readonly preview?: PreviewSource
  /** Existing namespaces with longer names whose hosts could be confused with the hosts of this namespace. */
  readonly longerNames: readonly string[]
}

const LABEL = 'dev.platform/'
/**
 * Keys of the labels and annotations that store a ManagedNamespace in a Namespace. The exported keys are also used by
 * code that updates a single value.
 */
export const STATUS = `${LABEL}status`
export const LAST_ACTIVE = `${LABEL}last-active`
export const OWNER = `${LABEL}owner`
export const PERSISTENT = `${LABEL}persistent`
export const PULL_LOGINS = `${LABEL}pull-logins`
export const EXPIRES = `${LABEL}expires`
const UNTRUSTED = `${LABEL}untrusted`
export const LONGER_NAMES = `${LABEL}longer-names`

/** Returns the Namespace to apply for a record. Omits `created`, which the API server sets. */
export function fromNamespace(one: ManagedNamespace): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name: one.name,
      labels: {
        [MANAGED_LABEL]: 'true',
        [RECORD_LABEL]: one.kind,
        [STATUS]: one.status,
        [`${LABEL}scope`]: one.isGlobal ? 'global' : 'personal',
        ...(one.isUntrusted && { [UNTRUSTED]: 'true' }),
        'pod-security.kubernetes.io/enforce': one.isUntrusted ? 'restricted' : 'baseline',
      },
      annotations: {
        [OWNER]: one.owner,
        [LAST_ACTIVE]: one.lastActive,
        [LONGER_NAMES]: one.longerNames.join(','),
        ...(one.isPersistent && { [PERSISTENT]: 'true' }),
        ...(one.expires !== undefined && { [EXPIRES]: one.expires }),
        ...(one.woken !== undefined && { [WOKEN]: one.woken }),
        ...(one.fallingAsleep !== undefined && { [FALLING_ASLEEP]: one.fallingAsleep }),
        ...(one.pullLogins !== undefined && { [PULL_LOGINS]: one.pullLogins }),
        ...(one.deletion && { [DELETION]: fromDeletion(one.deletion) }),
        ...(one.preview && present(fromPreview(one.preview))),
      },
    },
  }
}

const present = (annotations: Readonly<Record<string, string | null>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(annotations).flatMap(([key, value]) => (value === null ? [] : [[key, value]])))

/** Parses a Namespace. Returns undefined if the platform does not manage it; such a namespace is left alone. */
export function toNamespace({ metadata, status }: KubeObject): ManagedNamespace | undefined {
  const { name, labels = {}, annotations = {}, deletionTimestamp } = metadata
  const owner = annotations[OWNER]
  const kind = KINDS.find(one => one === labels[RECORD_LABEL])
  if (labels[MANAGED_LABEL] !== 'true' || !kind || !owner || !isUserId(owner)) return undefined
  const isEnding =
    deletionTimestamp !== undefined || (status as { phase?: string } | undefined)?.phase === 'Terminating'
  const created = metadata.creationTimestamp ?? '1970-01-01T00:00:00Z'
  const deletion = toDeletion(annotations[DELETION])
  const preview = kind === 'preview' ? toPreview(annotations) : undefined
  const waits = isEnding ? waitsOf(status) : deletion?.waits
  const said = STATUSES.find(one => one === labels[STATUS]) ?? 'Active'
  return {
    name,
    ...(metadata.uid !== undefined && { uid: metadata.uid }),
    kind,
    status: isEnding ? 'Deleting' : said,
    owner,
    ...(labels[`${LABEL}scope`] === 'global' && { isGlobal: true }),
    created,
    lastActive: annotations[LAST_ACTIVE] ?? created,
    ...(annotations[PERSISTENT] === 'true' && { isPersistent: true }),
    ...(labels[UNTRUSTED] === 'true' && { isUntrusted: true }),
    ...(annotations[EXPIRES] !== undefined && { expires: annotations[EXPIRES] }),
    ...(annotations[WOKEN] !== undefined && { woken: annotations[WOKEN] }),
    ...(annotations[FALLING_ASLEEP] !== undefined && { fallingAsleep: annotations[FALLING_ASLEEP] }),
    ...(annotations[PULL_LOGINS] !== undefined && { pullLogins: annotations[PULL_LOGINS] }),
    ...(deletion && { deletion }),
    ...(waits !== undefined && { waits }),
    ...(preview && { preview }),
    longerNames: (annotations[LONGER_NAMES] ?? '').split(',').filter(one => one !== ''),
  }
}

/** Conditions of a terminating namespace that say what is left in it, the most specific condition first. */
const LEFT = [
  'NamespaceFinalizersRemaining',
  'NamespaceContentRemaining',
  'NamespaceDeletionContentFailure',
  'NamespaceDeletionDiscoveryFailure',
  'NamespaceDeletionGroupVersionParsingFailure',
]

/**
 * Returns the messages of the conditions that say what is left in a terminating namespace, separated by semicolons;
 * undefined if there are no such conditions.
 */
function waitsOf(status: unknown): string | undefined {
  const { conditions = [] } = (status ?? {}) as { readonly conditions?: readonly NamespaceCondition[] } // a Namespace's
  const said = LEFT.flatMap(type => conditions.filter(one => one.type === type && one.status === 'True'))
  return said.length === 0 ? undefined : said.map(({ message }) => message ?? '').join('; ')
}

interface NamespaceCondition {
  readonly type: string
  readonly status: string
  readonly message?: string
}
