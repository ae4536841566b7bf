import { printable } from '../../../../compiler/values/printable.ts'
import type { Person } from '../../../api/common.ts'
import type { Namespace } from '../../../api/namespaces.ts'
import { addressOf } from '../../../api/pages.ts'
import type { Run } from '../../../api/runs.ts'
import type { SearchNames } from '../../../api/search.ts'
import type { Findable } from '../../state/find.ts'
import { relativeTime } from '../../state/relative-time.ts'
import { titleOf } from '../logs/runs.tsx'
import { runState } from '../state.tsx'

/** Data that the search uses. Data that is not loaded yet is absent, and cannot be found. */
export interface Readable {
  readonly namespaces: readonly Namespace[] | undefined
  readonly names: SearchNames | undefined
  readonly runs: readonly Run[] | undefined
}

/** The user who searches, and the current time. */
export interface Searcher {
  readonly self: string | undefined
  readonly isAdmin: boolean
  readonly now: number
}

/**
 * Returns all items that the search finds in addition to pages and actions: namespaces, the last used first; their
 * environments and services; people; and runs, newest first.
 */
export const findablesOf = ({ namespaces = [], names, runs = [] }: Readable, by: Searcher): readonly Findable[] => [
  ...namespacesOf(namespaces, by),
  ...(names?.items ?? []).flatMap(deployedIn),
  ...peopleIn(names?.items ?? [], by),
  ...runs.map(run => toFindable(run, by)),
]

/** Returns namespaces as search results, the last used first. */
export const namespacesOf = (all: readonly Namespace[], { self }: Searcher): readonly Findable[] =>
  all
    .toSorted((a, b) => (a.lastActive < b.lastActive ? 1 : -1))
    .map(({ name, kind, owner }) => ({
      text: name,
      group: kind === 'preview' ? 'Preview' : 'Namespace',
      ...(owner.id !== self && { detail: owner.login }),
      also: `namespace ${kind} ${owner.login} ${owner.name ?? ''}`,
      href: addressOf('namespace', { ns: name }),
    }))

const deployedIn = ({ namespace: ns, environments }: SearchNames['items'][number]): readonly Findable[] =>
  environments.flatMap(({ name: env, services }) => [
    {
      text: env,
      group: 'Environment',
      detail: ns,
      also: `environment ${ns}`,
      href: addressOf('environment', { ns, env }),
    },
    ...services.map(service => ({
      text: service,
      group: 'Service',
      detail: `${ns} / ${env}`,
      also: `service ${env} ${ns}`,
      href: addressOf('service', { ns, env, service }),
    })),
  ])

/** Membership of a user in a namespace, with their role. */
interface Membership {
  readonly user: Person
  readonly role: string
  readonly ns: string
  readonly isShared: boolean
}

/**
 * Returns the other members of namespaces as search results. A result of an administrator links to the page of all
 * users. A result of another user links to the members of a namespace, preferably one that the current user is also a
 * member of.
 */
function peopleIn(items: SearchNames['items'], { self, isAdmin }: Searcher): readonly Findable[] {
  const byPerson = new Map<string, Membership[]>()
  for (const { namespace: ns, members } of items) {
    const isShared = members.some(({ user }) => user.id === self)
    for (const { user, role } of members)
      if (user.id !== self) byPerson.set(user.id, [...(byPerson.get(user.id) ?? []), { user, role, ns, isShared }])
  }
  return [...byPerson.values()].flatMap(all => {
    const first = all.find(one => one.isShared) ?? all[0]
    if (!first) return []
    const { user, role, ns } = first
    const more = all.length > 1 ? ` and ${all.length - 1} more` : ''
    return {
      text: user.name ?? user.login,
      group: 'Person',
      id: user.id,
      detail: `${user.name === undefined ? '' : `${user.login} · `}${role} of ${ns}${more}`,
      also: `person user member ${user.login}`,
      href: isAdmin ? `${addressOf('users')}?find=${encodeURIComponent(user.login)}` : addressOf('members', { ns }),
    }
  })
}

function toFindable(run: Run, { now }: Searcher): Findable {
  const { id, namespace, branch, commit, user, state, repository, created } = run
  const { word } = runState(state)
  const parts = [
    namespace,
    branch === undefined ? undefined : printable(branch),
    commit?.slice(0, 7),
    user.login,
    word.toLowerCase(),
    relativeTime(Date.parse(created), now),
  ]
  return {
    text: titleOf(run),
    group: 'Run',
    detail: parts.filter(one => one !== undefined).join(' · '),
    also: `run ${namespace} ${branch ?? ''} ${user.login} ${user.name ?? ''} ${word} ${repository ?? ''}`,
    ...(commit !== undefined && { begins: commit }),
    href: addressOf('run', { id }),
  }
}
