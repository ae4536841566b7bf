import { readFile, stat } from 'node:fs/promises'
import { reasonOf } from '../../../compiler/diagnostics/system-error.ts'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import { agentAt, agentOfKeys, type SshAgent } from './agent.ts'
import { type AgentKey, parsePrivateKey } from './private-key.ts'

/** Maximum size of a private key file in bytes. */
const MOST = 100 * 1024

/**
 * Returns the agents of a build by id, each for an agent socket or for private key files. Throws a UserError for a path
 * that is neither.
 */
export async function openAgents(
  paths: ReadonlyMap<string, readonly string[]>,
): Promise<ReadonlyMap<string, SshAgent>> {
  const agents = [...paths].map(async ([id, of]) => [id, await openAgent(id, of)] as const)
  return new Map(await Promise.all(agents))
}

async function openAgent(id: string, paths: readonly string[]): Promise<SshAgent> {
  const [only, ...others] = await Promise.all(paths.map(path => sourceAt(id, path)))
  if (only === undefined)
    throw new UserError(`the build uses the SSH agent \`${id}\`, and \`SSH_AUTH_SOCK\` is not set`, {
      hint: 'start an agent with `eval $(ssh-agent)`, or name the file of a key: `default=PATH`',
    })
  if ('socket' in only && others.length === 0) return agentAt(only.socket)
  const keys = [only, ...others].flatMap(one => ('key' in one ? one.key : []))
  if (keys.length === paths.length) return agentOfKeys(keys)
  throw new UserError(`the SSH agent \`${id}\` of the build has the socket of an agent beside others`, {
    hint: 'name one socket, or only files of keys',
  })
}

async function sourceAt(id: string, path: string): Promise<{ readonly socket: string } | { readonly key: AgentKey }> {
  const refuse = (reason: string, hint?: string) =>
    new UserError(`the SSH key \`${id}\` of the build cannot be used: \`${path}\`: ${reason}`, {
      ...(hint !== undefined && { hint }),
    })
  // OpenSSH for Windows listens on a pipe.
  if (path.startsWith('\\\\.\\pipe\\')) return { socket: path }
  const found = await read(path).catch((error: unknown) => {
    throw refuse(reasonOf(error))
  })
  if (found === 'socket') return { socket: path }
  const key = parsePrivateKey(found)
  if (!key.ok) throw refuse(key.reason, key.hint)
  return { key: key.value }
}

async function read(path: string): Promise<Buffer | 'socket'> {
  const stats = await stat(path)
  if (stats.isSocket()) return 'socket'
  // A key is never this large, and reading a device may never end.
  if (!stats.isDirectory() && (!stats.isFile() || stats.size > MOST)) throw new Error('it is not a key')
  return readFile(path)
}
