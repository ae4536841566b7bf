import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { isDnsLabel } from '../../compiler/values/dns-name.ts'

/** A development container of this machine. */
export interface SessionKey {
  /** The address of the API server: one namespace may be in several clusters. */
  readonly server: string
  readonly namespace: string
  readonly dev: string
}

/**
 * The absolute path of the folder with what this machine keeps of a development container: the log of `up`, the base of
 * the synchronization, conflicts. `home` is devctl's own folder. Throws a UserError if a name is not one that
 * Kubernetes allows: an API server can send any text as a name, and this one becomes part of a path.
 */
export function sessionFolder(home: string, { server, namespace, dev }: SessionKey): string {
  return join(
    home,
    'develop',
    clusterId(server),
    checked(namespace, 'a namespace'),
    checked(dev, 'a development container'),
  )
}

function checked(name: string, what: string): string {
  if (isDnsLabel(name)) return name
  throw new UserError(`\`${name.slice(0, 63)}\` cannot be the name of ${what}`)
}

/** Distinguishes a cluster from others, in the names of files. */
export const clusterId = (server: string): string => shortHash(server)

/** The folder with the sockets of running sessions: the path of a socket has at most 104 bytes. */
function socketFolder(home: string): string {
  return join(home, 'run')
}

/**
 * Returns the address on which the running `up` of a development container listens: a socket, or a named pipe on
 * Windows.
 */
export function controlAddress(home: string, key: SessionKey, platform: NodeJS.Platform): string {
  const name = shortHash([key.server, key.namespace, key.dev].join('\n'))
  if (platform === 'win32') return `\\\\.\\pipe\\devctl-${shortHash(home)}-${name}`
  return join(socketFolder(home), `${name}.sock`)
}

const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12)
