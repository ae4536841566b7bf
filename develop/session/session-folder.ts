import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { isDnsLabel } from '../../compiler/values/dns-name.ts'

/** Identity of a development container on this machine. */
export interface SessionKey {
  /** Address of the API server, because several clusters may have a namespace with the same name. */
  readonly server: string
  readonly namespace: string
  readonly dev: string
}

/**
 * Returns the absolute path of the folder in which this machine stores the data of a development container: the log of
 * `up`, the base of the synchronization, and conflicts. `home` is devctl's own folder. Throws a UserError if a name is
 * not allowed by Kubernetes: the name becomes part of the path, and an API server could send any text.
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

/** Returns an ID that distinguishes a cluster from others in file names. */
export const clusterId = (server: string): string => shortHash(server)

/**
 * Returns the folder for the sockets of running sessions. The path is short because socket paths are limited to 104
 * bytes.
 */
function socketFolder(home: string): string {
  return join(home, 'run')
}

/** Returns the address on which a development container's `up` listens: a socket, or a named pipe on Windows. */
export function controlAddress(home: string, key: SessionKey, platform: NodeJS.Platform): string {
  const name = shortHash([key.server, key.namespace, key.dev].join('\n'))
  if (platform === 'win32') return `\\\\.\\pipe\\devctl-${shortHash(home)}-${name}`
  return join(socketFolder(home), `${name}.sock`)
}

const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12)
