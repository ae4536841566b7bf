import { once } from 'node:events'
import type { Socket } from 'node:net'
import { join } from '../../adapters/ssh/join.ts'
import { didYouMean } from '../../compiler/diagnostics/suggest.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { requireDeployed } from '../../containers/workloads/not-deployed.ts'
import { findForwardTarget } from '../../environment/status/forward-target.ts'
import type { LoadInput } from '../../project/input.ts'
import { findEnvironment } from '../../project/known-environment.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { OperationContext, Session } from '../../project/session.ts'
import { at, type LocalPort, listenLocally, PortUnavailable } from './listen.ts'

/** Port of this machine, and the port of the service that it forwards to. */
export interface ForwardedPort {
  /** Port number; 0 for any free port. */
  readonly local: number
  readonly remote: number
}

export interface ForwardInput extends LoadInput {
  /** Name of the environment. If absent, the name in the files. */
  readonly name?: string | undefined
  /** Service name in the files. */
  readonly service: string
  readonly ports: readonly ForwardedPort[]
  /** Address of this machine to listen on. If absent, both loopback addresses. */
  readonly address?: string | undefined
}

/**
 * Listens on ports of this machine and forwards connections to Pods of a service until the session's signal is aborted;
 * then throws the abort reason. Looks up a ready Pod for each connection, so that a rollout does no harm. Calls
 * `listening` for each port.
 */
export async function forward(
  world: OperationContext,
  { service, ports, address: wanted, ...input }: ForwardInput,
  project: OpenProject,
  listening: (local: string, remote: number) => void,
): Promise<never> {
  const { session, on } = world
  const known = await findEnvironment(world, input, project)
  const label = await labelOf(known.project, service)
  const query = { environment: known.name, namespace: session.namespace, service: label }
  // Report a missing service now, not at the first connection.
  await findForwardTarget(session.cluster, { ...query, port: ports[0]!.remote }, session.signal).catch(async error => {
    await requireDeployed(session, known.name)
    throw error
  })
  const listeners: LocalPort[] = []
  try {
    for (const { local, remote } of ports) {
      const connect = (socket: Socket) =>
        void serve(session, { ...query, port: remote }, socket).catch(error =>
          on({ type: 'note', text: `${service}:${remote}: ${messageOf(error)}` }),
        )
      const listener = await listenLocally(wanted, local, connect).catch(error =>
        refuse(error, service, remote, wanted),
      )
      listeners.push(listener)
      listening(at(wanted ?? 'localhost', listener.port), remote)
    }
    session.signal.throwIfAborted()
    return await new Promise<never>((_, reject) =>
      session.signal.addEventListener('abort', () => reject(session.signal.reason)),
    )
  } finally {
    for (const listener of listeners) listener.close()
  }
}

/** Returns the name of the service in Kubernetes. Throws a UserError if the files do not contain the service. */
async function labelOf(
  project: Awaited<ReturnType<typeof findEnvironment>>['project'],
  service: string,
): Promise<string> {
  if (!project) return service
  const [{ planNames }, { Reporter }] = await Promise.all([
    import('../../compiler/plan/names.ts'),
    import('../../compiler/diagnostics/reporter.ts'),
  ])
  const names = [...project.services.keys()]
  if (!names.includes(service))
    throw new UserError(`service \`${service}\` does not exist`, {
      hint: didYouMean(service, names) ?? `the services are ${names.map(name => `\`${name}\``).join(', ')}`,
    })
  return planNames(project, {}, new Reporter()).of(service)
}

/**
 * Throws an error for a port that cannot be opened, with a hint to a command that uses another port. Throws other
 * errors unchanged.
 */
async function refuse(error: unknown, service: string, remote: number, address: string | undefined): Promise<never> {
  if (!(error instanceof PortUnavailable)) throw error
  const { port, reason } = error
  const option = address === undefined ? '' : `--address ${address} `
  const other = `devctl forward ${option}${service} ${otherPort(port)}:${remote}`
  throw await error.toUserError(`use ${reason === 'busy' ? 'another one' : 'a port above 1023'}: \`${other}\``)
}

const LAST_PORT = 65_535

const otherPort = (port: number): number => (port < 1024 ? 8000 + port : port < LAST_PORT ? port + 1 : port - 1)

/** Connects a local connection to a Pod. Rejects if the Pod or the API server refuses the connection. */
async function serve(
  { cluster, access, signal }: Session,
  query: Parameters<typeof findForwardTarget>[1],
  socket: Socket,
): Promise<void> {
  // The client may disconnect before its connection is joined to the Pod's.
  socket.on('error', () => {})
  try {
    const target = await findForwardTarget(cluster, query, signal)
    const { openPortForward } = await import('../../adapters/kubernetes/port-forward.ts')
    const remote = await openPortForward(access, target, { signal })
    if (remote.errored) throw remote.errored
    if (socket.destroyed) return void remote.destroy()
    join(socket, remote)
    await Promise.all([once(socket, 'close', { signal }), once(remote, 'close', { signal })])
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // Both sides may disconnect at any time.
    if (!signal.aborted && code !== 'ECONNRESET' && code !== 'EPIPE') throw error
  } finally {
    socket.destroy()
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
