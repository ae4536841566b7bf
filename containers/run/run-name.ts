import { randomBytes } from 'node:crypto'

/**
 * Maximum number of characters of a service name that the names of its runs contain, because the name of a Job has at
 * most 63 characters.
 */
const LONGEST = 50

/** Returns the part of the name that all runs of a service have in common, such as `web-run-`. */
export const runPrefix = (service: string): string => `${service.slice(0, LONGEST).replace(/-+$/, '')}-run-`

/** Returns a unique name for a new run of a service: the prefix of the service, and a random suffix. */
export const newRunName = (service: string): string => `${runPrefix(service)}${randomBytes(4).toString('hex')}`
