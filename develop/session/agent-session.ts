import { randomBytes } from 'node:crypto'
import { createSshKeyPair } from '../../adapters/ssh/keys.ts'
import type { AgentConfig } from '../../agent/config.ts'
import { FILLED_FILE, READY_FILE, RUN_PATH, VOLUME_PATH } from '../../constructs/mirror/names.ts'

/** Content of the Secret of a mirror: the agent's configuration, and the keys of this machine. */
export interface SessionConfig extends AgentConfig {
  /** Public host key. The agent proves that it has the matching private key. */
  readonly hostPublicKey: string
  /** Private key with which this machine logs in to the agent. */
  readonly clientKey: string
  /** ID of the last `up --reset`. */
  readonly reset?: string
}

/** Tasks of the agent in a development container. */
export interface AgentDuties {
  readonly sshPort: number
  /** True if the Pod uses the network of its node, where the agent must not listen. */
  readonly hostNetwork?: boolean
  readonly folders: AgentConfig['folders']
  readonly write: AgentConfig['write']
  /** True if the volume is filled from the image. */
  readonly fills: boolean
  /** True to empty the volume first. */
  readonly reset?: boolean
}

/** Port of the agent for the synchronization; it listens on 127.0.0.1 of the Pod. */
const SYNC_PORT = 2223

/**
 * Returns the configuration that the agent is started with. `existing` is the configuration in the Secret of an
 * existing mirror. Its keys are kept, so that the mirror's Pod is not replaced.
 */
export function agentSession(existing: unknown, { hostNetwork, fills, reset, ...duties }: AgentDuties): SessionConfig {
  // Keep the order of the keys, because a different text would start a new Pod.
  const { key, hostKey, userKey, hostPublicKey, clientKey } = keysOf(existing) ?? newKeys()
  const emptied = reset ? randomBytes(8).toString('hex') : resetOf(existing)
  return {
    protocol: 1,
    key,
    hostKey,
    userKey,
    hostPublicKey,
    clientKey,
    syncPort: duties.sshPort === SYNC_PORT ? SYNC_PORT + 1 : SYNC_PORT,
    ...(hostNetwork && { sockets: { sync: `${RUN_PATH}/sync.sock`, ssh: `${RUN_PATH}/ssh.sock` } }),
    ...duties,
    volume: VOLUME_PATH,
    ...(fills && { filled: FILLED_FILE }),
    ready: READY_FILE,
    ...(emptied !== undefined && { reset: emptied }),
  }
}

/**
 * Returns the reset ID of an existing mirror; undefined if it has none. The ID must be kept, because the Pod would be
 * replaced without it.
 */
function resetOf(existing: unknown): string | undefined {
  const { reset } = (existing ?? {}) as { readonly reset?: unknown }
  return typeof reset === 'string' && /^[0-9a-f]{16}$/.test(reset) ? reset : undefined
}

type Keys = Pick<SessionConfig, 'key' | 'hostKey' | 'userKey' | 'hostPublicKey' | 'clientKey'>

function keysOf(existing: unknown): Keys | undefined {
  const { protocol, key, hostKey, userKey, hostPublicKey, clientKey } = (existing ?? {}) as Partial<SessionConfig>
  if (protocol !== 1 || !key || !hostKey || !userKey || !hostPublicKey || !clientKey) return undefined
  return { key, hostKey, userKey, hostPublicKey, clientKey }
}

function newKeys(): Keys {
  const host = createSshKeyPair('devctl agent')
  const user = createSshKeyPair('devctl up')
  return {
    key: randomBytes(32).toString('hex'),
    hostKey: host.privateKey,
    hostPublicKey: host.publicKey,
    userKey: user.publicKey,
    clientKey: user.privateKey,
  }
}

/** Returns the ports or sockets on which the agent listens for the synchronization and for SSH. */
export const agentPlaces = ({ sockets, syncPort, sshPort }: AgentConfig) => ({
  sync: sockets?.sync ?? syncPort,
  ssh: sockets?.ssh ?? sshPort,
})
