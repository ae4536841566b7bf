import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { REGISTRY } from '../../support/buildkit/slow-project.ts'

/** Fault that replaces the registry's answer to a request. */
export type Fault = 'reset' | { readonly status: number; readonly headers?: Readonly<Record<string, string>> }

export interface Asked {
  readonly method: string
  /** Path without the query. */
  readonly path: string
  readonly authorization: string | undefined
  /** True for devctl itself, false for the builder. */
  readonly isDevctl: boolean
  /** Seconds since the server was started. */
  readonly at: number
  /** True if a fault replaced the answer. */
  readonly wasRefused: boolean
}

/** Server in front of the registry of the test cluster. */
export interface FaultyRegistry {
  /** `127.0.0.1:PORT`. */
  readonly host: string
  /** All requests received, in order. */
  readonly asked: readonly Asked[]
}

/**
 * Starts a faulty registry that ends with the test. `fault` is called for each request; `done` is called when the
 * registry has answered one.
 */
export async function faultyRegistry(
  fault: (asked: Omit<Asked, 'wasRefused'>) => Fault | undefined,
  done: (asked: Asked) => void = () => {},
): Promise<FaultyRegistry> {
  const asked: Asked[] = []
  const began = performance.now()
  const agent = new Agent({ keepAlive: true })
  const [hostname, port] = REGISTRY.split(':')
  const forward = (incoming: IncomingMessage, response: ServerResponse, one: Asked) => {
    const { method, url, headers } = incoming
    const upstream = request({ hostname, port, method, path: url, headers, agent }, answer => {
      done(one)
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    upstream.on('error', () => response.destroy())
    incoming.pipe(upstream)
  }
  const server = createServer((incoming, response) => {
    const { method = '', url = '', headers } = incoming
    const { authorization, 'user-agent': program = '' } = headers
    const isDevctl = !/^(?:buildkit|containerd|docker|Go-http-client)/.test(program)
    const at = (performance.now() - began) / 1000
    const request = { method, path: url.split('?')[0]!, authorization, isDevctl, at }
    const found = fault(request)
    const one = { ...request, wasRefused: found !== undefined }
    asked.push(one)
    if (found === undefined) return forward(incoming, response, one)
    if (found === 'reset') return incoming.socket.resetAndDestroy()
    incoming.resume()
    response.writeHead(found.status, { 'content-type': 'application/json', ...found.headers }).end('{"errors":[]}')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
    agent.destroy()
  })
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}
