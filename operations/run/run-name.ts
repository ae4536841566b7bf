import { randomBytes } from 'node:crypto'

/** Number of characters of a service name that the names of its runs contain: a Job's name has at most 63. */
const LONGEST = 50

/** Returns the part of the name that all runs of a service have in common, such as `web-run-`. */
export const runPrefix = (service: string): string => `${service.slice(0, LONGEST).replace(/-+$/, '')}-run-`

/** Returns the name of a new run of a service. */
export const newRunName = (service: string): string => `${runPrefix(service)}${randomBytes(4).toString('hex')}`
