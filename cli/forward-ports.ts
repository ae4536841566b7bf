import type { AddressInfo } from 'node:net'
import { createServer, type Server, type Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { didYouMean } from '../compiler/diagnostics/suggest.ts'
import { UsageError, UserError } from '../compiler/diagnostics/user-error.ts'
import { findForwardTarget } from '../environment/forward-target.ts'
import { requireNamespace } from '../operations/namespaces.ts'
import { findEnvironment } from '../operations/project/known-environment.ts'
import type { Session } from '../operations/session.ts'
import { type SessionOptions, withCluster } from './cluster-session.ts'
import type { Context } from './command.ts'
import type { LoadingValues } from './project-options.ts'
import { printsDiagnostics } from './report.ts'

export interface ForwardValues extends LoadingValues, Omit<SessionOptions, 'timeout' | 'isEndless'> {
  readonly name: string | undefined
  readonly address: string | undefined
}

/** A port of this machine, and the port of the service that it leads to. */
interface Forward {
  /** 0: any that is free. */
  readonly local: number
  readonly remote: number
}

/**
 * Listens on ports of this machine and connects what comes there to Pods of a service, until Ctrl-C. Each connection
 * looks for a ready Pod, so that a rollout in between does no harm.
 */
export async function forwardPorts(
  context: Context,
  service: string,
  ports: readonly string[],
  options: ForwardValues,
): Promise<number> {
  const forwards = ports.map(parseForward)
  const { io, logLevel } = context
  const known = await findEnvironment({ workspace: context.io, on: printsDiagnostics(context) }, options)
  const label = await labelOf(known.project, service)
  return withCluster(
    io,
    { ...options, ...known.target, logLevel, timeout: undefined, isEndless: true },
    async session => {
      const query = { environment: known.name, namespace: session.namespace, service: label }
      // A service that is not there is found out before anybody waits for a connection.
      await findForwardTarget(session.cluster, { ...query, port: forwards[0]!.remote }, session.signal).catch(
        async error => {
          await requireNamespace(session)
          throw error
        },
      )
      const servers: Server[] = []
      try {
        for (const { local, remote } of forwards) {
          const connect = (socket: Socket) =>
            void serve(session, { ...query, port: remote }, socket).catch(error => {
              if (logLevel !== 'error') io.stderr.write(`${service}:${remote}: ${messageOf(error)}\n`)
            })
          let port = local
          for (const address of options.address === undefined ? ['127.0.0.1', '::1'] : [options.address]) {
            const server = await listen(address, port, connect, service, remote)
            if (!server) continue
            servers.push(server)
            port = portOf(server)
          }
          io.stdout.write(`${options.address ?? 'localhost'}:${port} → ${service}:${remote}\n`)
        }
        await new Promise((_, reject) => session.signal.addEventListener('abort', () => reject(session.signal.reason)))
      } finally {
        for (const server of servers) server.close()
      }
      return 0
    },
  )
}

/** `8080:80`, `80` for the same port on both sides, `:80` for any free port. Throws a UsageError. */
export function parseForward(text: string): Forward {
  const [, local, remote] = /^(?:(\d{0,5}):)?(\d{1,5})$/.exec(text) ?? []
  const isPort = (port: number) => port <= 65535
  const forward = { local: Number(local ?? remote), remote: Number(remote) }
  if (remote === undefined || forward.remote === 0 || !isPort(forward.remote) || !isPort(forward.local))
    throw new UsageError(`\`${text}\` is not a port to forward`, { hint: 'write `LOCAL:REMOTE`, such as `8080:80`' })
  return forward
}

/** The name of the service in Kubernetes' form; throws a UserError for one that the files do not have. */
async function labelOf(
  project: Awaited<ReturnType<typeof findEnvironment>>['project'],
  service: string,
): Promise<string> {
  if (!project) return service
  const [{ planNames }, { Reporter }] = await Promise.all([
    import('../compiler/plan/names.ts'),
    import('../compiler/diagnostics/reporter.ts'),
  ])
  const names = [...project.services.keys()]
  if (!names.includes(service))
    throw new UserError(`there is no service \`${service}\``, {
      hint: didYouMean(service, names) ?? `there are ${names.map(name => `\`${name}\``).join(', ')}`,
    })
  return planNames(project, {}, new Reporter()).of(service)
}

/** Listens; gives undefined where this machine does not have the address, as `::1` without IPv6. */
function listen(
  address: string,
  port: number,
  connect: (socket: Socket) => void,
  service: string,
  remote: number,
): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer({ allowHalfOpen: true, noDelay: true }, connect)
    server.once('error', (error: NodeJS.ErrnoException) => {
      const other = `devctl forward ${service} ${port < 1024 ? 8000 + port : port + 1}:${remote}`
      if (error.code === 'EADDRNOTAVAIL' && address === '::1') resolve(undefined)
      else if (error.code === 'EADDRINUSE')
        reject(new UserError(`port ${port} of ${address} is in use`, { hint: `take another: \`${other}\`` }))
      else if (error.code === 'EACCES')
        reject(new UserError(`you may not listen on port ${port}`, { hint: `take one above 1023: \`${other}\`` }))
      else reject(new UserError(`cannot listen on ${address}:${port}: ${error.message}`))
    })
    server.listen(port, address, () => resolve(server))
  })
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port

/** Connects one connection of this machine to a Pod; rejects when the Pod, or the way to it, does not take it. */
async function serve(
  { cluster, access, signal }: Session,
  query: Parameters<typeof findForwardTarget>[1],
  socket: Socket,
): Promise<void> {
  try {
    const target = await findForwardTarget(cluster, query, signal)
    const { openPortForward } = await import('../cluster/port-forward.ts')
    const remote = await openPortForward(access, target, { signal })
    if (remote.errored) throw remote.errored
    await pipeline(socket, remote, socket)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // Either end may hang up when it likes.
    if (!signal.aborted && code !== 'ERR_STREAM_PREMATURE_CLOSE' && code !== 'ECONNRESET' && code !== 'EPIPE')
      throw error
  } finally {
    socket.destroy()
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
