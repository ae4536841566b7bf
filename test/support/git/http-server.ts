import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, dirname } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { counter, cutAfter, type Exchange, type Fault, slowed } from './faults.ts'
import { type Env, gitEnv } from './git.ts'
import { type Faulty, running } from './inetd.ts'
import type { GitServer } from './repository.ts'

export interface HttpOptions extends Faulty {
  /** Password that clients must send; without it, every client may fetch and push. */
  readonly password?: string
  readonly user?: string
  /** Pushes are answered with 403, as a token without the right to write is. */
  readonly readOnly?: boolean
}

/** A request as it came, and the status it was answered with. */
export interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  status?: number
}

export interface HttpServer extends GitServer {
  readonly requests: readonly Seen[]
}

type Backend = ChildProcessByStdio<Writable, Readable, null>

/**
 * Serves a bare repository by `git http-backend`, as a web server does: a password is asked for by a 401, answers are
 * streamed, and compressed requests and the protocol's version are left to git.
 */
export async function httpServer(
  repository: string,
  { password, user = 'publisher', readOnly = false, slow, faults }: HttpOptions = {},
): Promise<HttpServer> {
  const requests: Seen[] = []
  const started = running()
  const count = counter()
  const expected = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

  const server = createServer(async (request, response) => {
    const { method = 'GET', url = '/', headers } = request
    const seen: Seen = { method, url, headers }
    requests.push(seen)
    response.on('close', () => {
      if (response.headersSent) seen.status = response.statusCode
    })
    if (password !== undefined && headers.authorization !== expected) return askPassword(request, response)
    const fault = await faults?.(count(kindOf(request)))
    if (fault?.kind === 'hang') return
    if (fault?.kind === 'status' && fault.afterwards !== true) return refuse(request, response, fault.status)
    const child = spawn('git', ['http-backend'], {
      env: backendEnv(request, repository, readOnly),
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
    })
    started.children.add(child)
    child.on('exit', () => started.children.delete(child))
    // A connection cut by the client or by a fault is not an error here.
    await exchange(request, response, child, fault, slow).catch(() => {
      response.destroy()
      child.stdout.destroy()
    })
  })

  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    address: `${origin}/${basename(repository)}`,
    repository,
    env: password === undefined ? {} : passwordEnv(origin, user, password),
    requests,
    async close() {
      server.closeAllConnections()
      await Promise.all([new Promise(resolve => server.close(resolve)), started.end()])
    },
  }
}

/** The environment in which git knows the password of a server, without it being in an address. */
export function passwordEnv(origin: string, user: string, password: string): Env {
  return {
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: `credential.${origin}.helper`,
    GIT_CONFIG_VALUE_0: `!f() { echo username=${user}; echo password=${password}; }; f`,
  }
}

function kindOf({ method, url = '' }: IncomingMessage): Exchange['kind'] {
  const verb = url.includes('git-receive-pack') ? 'push' : 'fetch'
  return method === 'POST' ? verb : `${verb}-refs`
}

/** Returns the environment that a web server passes to a CGI program. */
function backendEnv({ url, method, headers }: IncomingMessage, repository: string, readOnly: boolean): Env {
  const { pathname, search } = new URL(url ?? '/', 'http://localhost')
  const given = {
    CONTENT_TYPE: headers['content-type'],
    CONTENT_LENGTH: headers['content-length'],
    HTTP_CONTENT_ENCODING: headers['content-encoding'],
    HTTP_GIT_PROTOCOL: headers['git-protocol']?.toString(),
  }
  return {
    ...gitEnv(),
    GIT_PROJECT_ROOT: dirname(repository),
    GIT_HTTP_EXPORT_ALL: '1',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'http.receivepack',
    GIT_CONFIG_VALUE_0: String(!readOnly),
    PATH_INFO: decodeURIComponent(pathname),
    QUERY_STRING: search.slice(1),
    REQUEST_METHOD: method ?? 'GET',
    REMOTE_ADDR: '127.0.0.1',
    ...Object.fromEntries(Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined)),
  }
}

async function exchange(
  request: IncomingMessage,
  response: ServerResponse,
  child: Backend,
  fault: Fault | undefined,
  slow: number | undefined,
): Promise<void> {
  const asked =
    fault?.kind === 'cut-request'
      ? pipeline(request, cutAfter(fault.after), child.stdin)
      : pipeline(request, child.stdin)
  // git answers without reading all when it refuses; a client that has left is found when it is answered.
  asked.catch(() => {
    if (fault?.kind === 'cut-request') response.destroy()
    child.stdin.destroy()
  })
  const { head, body } = await cgiAnswer(child.stdout)
  if (fault?.kind === 'status') {
    for await (const _ of body) {
      // Until git has done what was asked.
    }
    return refuse(request, response, fault.status)
  }
  response.writeHead(head.status, head.headers)
  const paced = slow === undefined ? body : slowed(slow)(body)
  await pipeline(fault?.kind === 'cut-answer' ? cutAfter(fault.after)(paced) : paced, response)
}

/** Takes the head of a CGI program's answer apart; the rest is streamed. */
async function cgiAnswer(stdout: Readable) {
  const chunks = stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  let read = Buffer.alloc(0)
  let end = -1
  while (end < 0) {
    const { value, done } = await chunks.next()
    if (done) throw new Error('git http-backend has not answered')
    read = Buffer.concat([read, value])
    end = read.indexOf('\r\n\r\n')
  }
  const lines = read.subarray(0, end).toString('latin1').split('\r\n')
  const headers = Object.fromEntries(lines.map(line => line.split(/:\s*/, 2) as [string, string]))
  const { Status: status = '200', ...others } = headers
  const rest = read.subarray(end + 4)
  return { head: { status: Number.parseInt(status, 10), headers: others }, body: stream(rest, chunks) }
}

async function* stream(first: Buffer, chunks: AsyncIterator<Buffer>) {
  if (first.length > 0) yield first
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value
}

function askPassword(request: IncomingMessage, response: ServerResponse): void {
  request.resume()
  response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="git"' }).end()
}

function refuse(request: IncomingMessage, response: ServerResponse, status: number): void {
  request.resume()
  response.writeHead(status, { 'Content-Type': 'text/plain' }).end()
}
