import Type from 'typebox'
import { byNamespace } from './namespaces.ts'
import { route } from './route.ts'

const slept = Type.Object({
  kept: Type.Array(Type.String(), {
    description: 'what stays awake or does not wake it, and why, as one sentence each',
  }),
})
const woken = Type.Object({ status: Type.String({ description: '`Waking`, or `Active` if it was awake' }) })

/** Routes that put a namespace to sleep and wake it (design, section 5). */
export const sleepRoutes = {
  'POST /namespaces/:ns/sleep': route({ caller: 'user', params: byNamespace, reply: slept, audit: 'sleep' }),
  'POST /namespaces/:ns/wake': route({ caller: 'user', params: byNamespace, reply: woken, audit: 'wake' }),
} as const
