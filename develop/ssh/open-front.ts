import { createSshKeyPair } from '../../adapters/ssh/keys.ts'
import type { AgentLink } from '../ports/agent-link.ts'
import type { FrontContainer } from './container.ts'
import { type SshCluster, writeSshEntry } from './entry.ts'
import { startSshFront } from './front.ts'

export interface FrontOptions {
  /** Path of devctl's own folder. */
  readonly home: string
  readonly dev: string
  readonly namespace: string
  readonly cluster: SshCluster
  /** Port to listen on; undefined for any free port. */
  readonly port: number | undefined
  readonly container: FrontContainer
  readonly link: AgentLink
}

/** An open SSH server for a development container. */
export interface OpenFront {
  /** Host name for `ssh`: `api.devctl`. */
  readonly host: string
  readonly port: number
  close(): Promise<void>
}

/**
 * Starts the SSH server of a session with keys of its own, and writes the session's entry to devctl's SSH
 * configuration. Rejects with a UserError.
 */
export async function openFront(options: FrontOptions): Promise<OpenFront> {
  const { home, dev, namespace, cluster, port, container, link } = options
  const [host, user] = [createSshKeyPair('devctl'), createSshKeyPair(`devctl ${dev}`)]
  const keys = { hostKey: host.privateKey, userKey: user.publicKey }
  const server = await startSshFront({ port: port ?? 0, ...keys, container, link })
  try {
    const entry = { dev, namespace, cluster, port: server.port, hostKey: host.publicKey, userKey: user.privateKey }
    const { host: name, remove } = await writeSshEntry(home, entry)
    return {
      host: name,
      port: server.port,
      async close() {
        server.close()
        await remove()
      },
    }
  } catch (error) {
    server.close()
    throw error
  }
}
