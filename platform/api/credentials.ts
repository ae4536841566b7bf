import Type from 'typebox'
import { person, time } from './common.ts'
import { listOf, route } from './route.ts'
import { cloneLogin } from './runs.ts'

const scope = Type.String({
  pattern: '^(user|namespace:[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)$',
  description: '`user` (the caller) or `namespace:NAME`',
})
const host = Type.String({
  maxLength: 100,
  description: 'host of a forge: `git.example.com`, with its port if it has one',
})

const credential = Type.Object({ host: Type.String(), user: Type.String(), set: time, by: person })

const byScope = Type.Object({ scope })
const byHost = Type.Object({ scope, host })

/** Routes for the forge credentials that runs clone with (design, section 6). */
export const credentialRoutes = {
  'GET /credentials/:scope': route({ caller: 'user', params: byScope, reply: listOf(credential) }),
  'PUT /credentials/:scope/:host': route({
    caller: 'user',
    params: byHost,
    body: cloneLogin,
    audit: 'set credential',
  }),
  'DELETE /credentials/:scope/:host': route({ caller: 'user', params: byHost, audit: 'unset credential' }),
} as const
