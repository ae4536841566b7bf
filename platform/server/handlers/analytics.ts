import type { analyticsRoutes } from '../../api/analytics.ts'
import type { Usage } from '../leader/usage.ts'
import type { HandlersOf } from './handler.ts'

export const analyticsHandlers = (usage: Usage): HandlersOf<typeof analyticsRoutes> => ({
  'POST /analytics': async ({ body, by }) => {
    usage.count(by.user.id, body.commands)
    return undefined
  },
  'GET /admin/analytics': async () => ({
    items: [...(await usage.days())].map(([day, counts]) => ({ day, ...counts })),
  }),
})
