import type { OperationEvent } from '../../api/events.ts'
import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import type { ForwardedPort } from '../../operations/forward/forward.ts'
import type { Context } from '../command.ts'
import type { ForwardValues } from '../commands/forward.ts'
import { printsDiagnostics } from '../terminal/report.ts'
import { withProject } from './project-session.ts'

/** Forwards ports of this machine to a service until Ctrl-C, and prints the local addresses. */
export async function forwardPorts(
  context: Context,
  service: string,
  words: readonly string[],
  options: ForwardValues,
): Promise<number> {
  const ports = words.map(parseForward)
  const { io, logLevel } = context
  const endless = { ...options, var: undefined, timeout: undefined, isEndless: true }
  return withProject(context, endless, async (own, project, session) => {
    const { forward } = await import('../../operations/forward/forward.ts')
    const print = printsDiagnostics(own)
    const on = (event: OperationEvent) => {
      if (event.type !== 'note') print(event)
      else if (logLevel !== 'error') io.stderr.write(`${event.text}\n`)
    }
    return forward({ workspace: own.io, session, on }, { ...options, service, ports }, project, (local, remote) =>
      io.stdout.write(`${local} → ${service}:${remote}\n`),
    )
  })
}

/**
 * Parses `8080:80`, `80` for the same port on both sides, or `:80` for any free local port. Throws a UsageError for any
 * other text, and for numbers that are no ports.
 */
export function parseForward(text: string): ForwardedPort {
  const [, local, remote] = /^(?:(\d{0,5}):)?(\d{1,5})$/.exec(text) ?? []
  const isPort = (port: number) => port <= 65535
  const forward = { local: Number(local ?? remote), remote: Number(remote) }
  if (remote === undefined || forward.remote === 0 || !isPort(forward.remote) || !isPort(forward.local))
    throw new UsageError(`\`${text}\` is not a port to forward`, { hint: 'write `LOCAL:REMOTE`, such as `8080:80`' })
  return forward
}
