import type { Namespace, NamespaceDetails } from '../../../../../platform/api/namespaces.ts'
import { PlatformError } from '../../../../../platform/server/http/platform-error.ts'
import { SAMPLE_LIMITS } from '../data/namespaces.ts'
import type { Samples } from '../sample.ts'
import { namespaceOf, put, remove, type SampleTeam, toPerson, userOf, YOU } from '../team.ts'
import { justNow } from '../times.ts'

/** Adds a namespace of the user. */
export function addNamespace(team: SampleTeam, name: string, kind: 'namespace' | 'preview'): NamespaceDetails {
  if (team.namespaces.some(one => one.name === name))
    throw new PlatformError(409, 'exists', `there is a namespace \`${name}\` already`)
  const now = justNow()
  const made: NamespaceDetails = {
    ...{ name, kind, status: 'Active', owner: YOU, role: 'owner', created: now, lastActive: now },
    members: [{ user: YOU, role: 'owner' }],
  }
  team.namespaces.push(made)
  return made
}

export function removeNamespace(team: SampleTeam, name: string): void {
  remove(team.namespaces, one => one.name === namespaceOf(team, name).name)
  remove(team.previews, one => one.name === name)
  team.environments.delete(name)
}

/** Sets the role of a member; the former owner stays a developer. */
function setRole(team: SampleTeam, ns: string, id: string, role: 'owner' | 'developer' | 'viewer'): NamespaceDetails {
  const namespace = namespaceOf(team, ns)
  const user = toPerson(userOf(team, id))
  if (role === 'owner') {
    for (const one of namespace.members) if (one.role === 'owner') one.role = 'developer'
    namespace.owner = user
  }
  put(namespace.members, { user, role }, one => one.user.id === id)
  const own = namespace.members.find(one => one.user.id === YOU.id)
  if (own) namespace.role = own.role
  return namespace
}

/** Changes the status of a namespace, and the state of all of its services. */
function setAsleep(team: SampleTeam, ns: string, isAsleep: boolean): void {
  const namespace = namespaceOf(team, ns)
  namespace.status = isAsleep ? 'Sleeping' : 'Active'
  for (const environment of team.environments.get(ns) ?? []) {
    environment.state = isAsleep ? 'asleep' : 'ready'
    for (const one of environment.services) {
      one.state = environment.state
      one.wanted = isAsleep ? 0 : Math.max(1, one.wanted)
      one.ready = one.wanted
      one.problems = []
      one.since = justNow()
      delete one.reason
    }
  }
}

const toListed = ({ members: _, ...namespace }: NamespaceDetails): Namespace => namespace

/** Samples for namespaces. Changes are kept; a namespace that is deleted is gone at once. */
export const namespaceSamples = {
  'GET /namespaces': ({ team }) => ({
    items: team.namespaces.map(toListed).sort((a, b) => (a.name < b.name ? -1 : 1)),
  }),
  'POST /namespaces': ({ team, body }) => toListed(addNamespace(team, body.name, 'namespace')),
  'GET /namespaces/:ns': ({ team, params }) => namespaceOf(team, params.ns),
  'GET /namespaces/:ns/limits': ({ team, params }) => {
    namespaceOf(team, params.ns)
    return { items: SAMPLE_LIMITS }
  },
  'PATCH /namespaces/:ns': ({ team, params, body: { owner, isPersistent } }) => {
    if (owner !== undefined) setRole(team, params.ns, owner, 'owner')
    return Object.assign(namespaceOf(team, params.ns), isPersistent !== undefined && { isPersistent })
  },
  'DELETE /namespaces/:ns': ({ team, params }) => removeNamespace(team, params.ns),
  'PUT /namespaces/:ns/members/:user': ({ team, params, body }) => setRole(team, params.ns, params.user, body.role),
  'DELETE /namespaces/:ns/members/:user': ({ team, params }) =>
    remove(namespaceOf(team, params.ns).members, one => one.user.id === params.user),
  'POST /namespaces/:ns/sleep': ({ team, params }) => {
    setAsleep(team, params.ns, true)
    return { kept: [] }
  },
  'POST /namespaces/:ns/wake': ({ team, params }) => {
    setAsleep(team, params.ns, false)
    return { status: 'Active' }
  },
} satisfies Samples
