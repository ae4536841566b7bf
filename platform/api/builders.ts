import { closed, namespaceName } from './common.ts'
import { route } from './route.ts'

const connect = closed({ namespace: namespaceName })

/** Routes of the build service (design, section 9). */
export const builderRoutes = {
  'GET /builders/connect': route({
    caller: 'user',
    query: connect,
    isUpgrade: true,
    isForRuns: true,
    audit: 'connect to builders',
  }),
} as const
