import type { Samples } from '../sample.ts'
import { listIn, put, remove, type SampleTeam, YOU } from '../team.ts'
import { justNow } from '../times.ts'

function setVariable({ variables }: SampleTeam, scope: string, name: string): void {
  put(listIn(variables, scope), { name, set: justNow(), by: YOU }, one => one.name === name)
}

function unsetVariable({ variables }: SampleTeam, scope: string, name: string): void {
  remove(listIn(variables, scope), one => one.name === name)
}

/** Samples for variables and Git credentials. Names are kept, values are not. */
export const variableSamples = {
  'GET /variables/:scope': ({ team, params }) => ({ items: listIn(team.variables, params.scope) }),
  'PATCH /variables/:scope': ({ team, params: { scope }, body }) => {
    for (const [name, value] of Object.entries(body.variables))
      (value === null ? unsetVariable : setVariable)(team, scope, name)
  },
  'PUT /variables/:scope/:name': ({ team, params: { scope, name } }) => setVariable(team, scope, name),
  'DELETE /variables/:scope/:name': ({ team, params: { scope, name } }) => unsetVariable(team, scope, name),
  'GET /credentials/:scope': ({ team, params }) => ({ items: listIn(team.credentials, params.scope) }),
  'PUT /credentials/:scope/:host': ({ team, params: { scope, host }, body: { user } }) =>
    put(listIn(team.credentials, scope), { host, user, set: justNow(), by: YOU }, one => one.host === host),
  'DELETE /credentials/:scope/:host': ({ team, params: { scope, host } }) =>
    remove(listIn(team.credentials, scope), one => one.host === host),
} satisfies Samples
