import type { FastifyInstance } from 'fastify'
import { createApp } from './app.ts'
import type { PlatformParts } from './make-parts.ts'
import type { WebFiles } from './pages.ts'
import type { PlatformWorld } from './world.ts'

/** Ports of the server. */
export interface Ports {
  readonly main: number
  /** For runs, which come without an ingress; absent: there is none. */
  readonly runs: number | undefined
}

/** A server that does not listen yet, and where it is to. */
export interface PortApp {
  readonly app: FastifyInstance
  readonly port: number
}

/**
 * The server, once for each of its ports. A run is code of a repository and comes directly, perhaps from the network
 * in which the trusted proxies are: on its port, nobody's `X-Forwarded-For` is believed, and there are no pages.
 */
export function makeApps(
  world: PlatformWorld,
  parts: PlatformParts,
  web: WebFiles | undefined,
  { main, runs }: Ports,
): readonly PortApp[] {
  const apps = [{ app: createApp(world, parts, web), port: main }]
  if (runs === undefined) return apps
  return [...apps, { app: createApp(world, parts, undefined, { isDirect: true }), port: runs }]
}
