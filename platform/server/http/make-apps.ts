import type { FastifyInstance } from 'fastify'
import type { AppOptions } from './app.ts'
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
  create: (web: WebFiles | undefined, options?: AppOptions) => FastifyInstance,
  web: WebFiles | undefined,
  { main, runs }: Ports,
): readonly PortApp[] {
  const apps = [{ app: create(web), port: main }]
  if (runs === undefined) return apps
  return [...apps, { app: create(undefined, { isDirect: true }), port: runs }]
}
