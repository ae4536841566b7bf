import type { FastifyInstance } from 'fastify'
import type { ServerContext } from '../context.ts'
import type { Services } from '../create-services.ts'
import { createApp } from './app.ts'
import type { WebFiles } from './pages.ts'

/** Ports of the server. */
export interface Ports {
  readonly main: number
  /** Port for runs, which do not connect through an ingress; undefined if the server has no such port. */
  readonly runs: number | undefined
}

/** A server that does not listen yet, and its port. */
export interface PortApp {
  readonly app: FastifyInstance
  readonly port: number
}

/**
 * Creates one server for each port. Runs execute code of repositories and connect directly, perhaps from the network of
 * the trusted proxies, so the server for runs ignores `X-Forwarded-For` and serves no pages.
 */
export function makeApps(
  world: ServerContext,
  parts: Services,
  web: WebFiles | undefined,
  { main, runs }: Ports,
): readonly PortApp[] {
  const apps = [{ app: createApp(world, parts, web), port: main }]
  if (runs === undefined) return apps
  return [...apps, { app: createApp(world, parts, undefined, { isDirect: true }), port: runs }]
}
