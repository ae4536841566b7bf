import type { Port } from '../../compose/project.ts'

/** Returns the number that a port is published on; undefined for an unpublished port and for a range. */
export function publishedPort(port: Port): number | undefined {
  return port.published !== undefined && /^[1-9]\d*$/.test(port.published) ? Number(port.published) : undefined
}
