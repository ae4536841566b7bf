import type { ManagedNamespace, NamespaceKind } from '../../records/namespace.ts'
import type { PlatformUser } from '../../records/user.ts'
import { isJobs } from '../../rules/accounts/ci-trust.ts'
import type { Settings } from '../context.ts'
import { PlatformError } from '../http/platform-error.ts'
import { type KnownHooks, requireOwnPull, requireReservedName } from './reserved-names.ts'

/** A namespace to create. */
export interface WantedNamespace {
  readonly owner: PlatformUser
  readonly name: string
  readonly kind: NamespaceKind
}

/** The existing records that a new namespace is checked against. */
interface Existing {
  readonly all: readonly ManagedNamespace[]
  readonly users: readonly PlatformUser[]
  readonly hooks: KnownHooks
}

/**
 * Throws a PlatformError if a name is reserved for other users, or if a CI job requests a name that is in use. The
 * names of personal namespaces are not checked, because `PersonalNamespaces` chooses none that are reserved.
 */
export async function requireFree(
  { owner, name, kind }: WantedNamespace,
  { all, users, hooks }: Existing,
  settings: Pick<Settings, 'ci'>,
): Promise<void> {
  if (kind === 'personal') return
  const hint = `choose another name: \`devctl ${kind === 'preview' ? 'preview deploy' : 'namespace create'} NAME\``
  const prefix = requireReservedName(settings, owner, name, hint)
  await requireOwnPull(hooks, owner, name, hint)
  const there = all.find(one => one.name === name)
  if (prefix === undefined || !there || !isJobs(owner, settings.ci)) return
  const login = users.find(({ id }) => id === there.owner)?.login ?? 'a deleted user'
  throw new PlatformError(409, 'exists', `\`${name}\` belongs to ${login}, not to ${owner.login}`, {
    hint: `an administrator deletes it (\`devctl namespace delete ${name}\`), or choose another name`,
  })
}

/**
 * Throws a PlatformError if the owner already has the maximum number of namespaces of this kind, not counting the
 * wanted namespace itself. A namespace counts until its deletion has finished.
 */
export function requireRoom(
  { owner, name, kind }: WantedNamespace,
  all: readonly ManagedNamespace[],
  { namespacesPerUser, previewsPerUser }: Pick<Settings, 'namespacesPerUser' | 'previewsPerUser'>,
): void {
  const most = { namespace: namespacesPerUser, preview: previewsPerUser, personal: undefined }[kind]
  if (most === undefined || owner.role === 'admin') return
  const own = all.filter(one => one.owner === owner.id && one.kind === kind && one.name !== name)
  if (own.length < most) return
  const words = ({ name, status }: ManagedNamespace) =>
    `\`${name}\`${status === 'Deleting' ? ' (until it is deleted)' : ''}`
  throw new PlatformError(409, 'quota', `you have ${own.length} ${kind}s, which is the limit`, {
    hint: `\`devctl ${kind} ${kind === 'preview' ? 'destroy' : 'delete'} NAME\` deletes one`,
    notes: [`yours: ${own.map(words).join(', ')}`],
  })
}

export const isTaken = (name: string): PlatformError =>
  new PlatformError(409, 'exists', `namespace \`${name}\` is taken`, { hint: 'choose another name' })
