import type { analyticsRoutes } from '../../api/analytics.ts'
import type { PlatformParts } from '../make-parts.ts'
import type { HandlersOf } from './handler.ts'

export const analyticsHandlers = ({ usage }: PlatformParts): HandlersOf<typeof analyticsRoutes> => ({
  'POST /analytics': async ({ body, by }) => {
    usage.count(by.user.id, body.commands)
    return undefined
  },
  'GET /admin/analytics': async () => ({
    items: [...(await usage.days())].map(([day, counts]) => ({ day, ...counts })),
  }),
})
