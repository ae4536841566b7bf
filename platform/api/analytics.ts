import Type from 'typebox'
import { DURATIONS, OUTCOMES, SYSTEMS } from '../rules/usage.ts'
import { closed, oneOf } from './common.ts'
import { listOf, route } from './route.ts'

/**
 * Schema of all fields that are sent about a command. docs/analytics.md lists the same fields, and a test compares the
 * two lists.
 */
const usedCommand = closed({
  command: Type.String({ pattern: '^[a-z]{1,20}( [a-z]{1,20})?$', description: 'its name, without its arguments' }),
  version: Type.String({ pattern: '^\\d{1,4}\\.\\d{1,4}\\.\\d{1,4}$', description: 'version of devctl' }),
  system: oneOf(SYSTEMS),
  duration: oneOf(DURATIONS),
  outcome: oneOf(OUTCOMES),
})

const counts = Type.Record(Type.String(), Type.Number())

const day = Type.Object({
  day: Type.String({ description: 'date in UTC: `2026-11-23`' }),
  commands: Type.Record(Type.String(), counts, { description: 'by command, then by outcome and duration' }),
  versions: counts,
  systems: counts,
})

/** Anonymous counts of the commands that people run on the platform. */
export const analyticsRoutes = {
  // Not audited, because the audit log would record who ran which command.
  'POST /analytics': route({
    caller: 'person',
    body: closed({ commands: Type.Array(usedCommand, { maxItems: 100 }) }),
  }),
  'GET /admin/analytics': route({ caller: 'admin', reply: listOf(day) }),
} as const
