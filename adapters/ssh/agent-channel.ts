import type { Duplex } from 'node:stream'
import type ssh2 from 'ssh2'

/** Private fields of ssh2's server that open channels; the class has no public method for agent channels. */
interface ChannelOpener {
  readonly _chanMgr: { add(opened: (error: Error | undefined, channel: Duplex) => void): number }
  readonly _protocol: { openssh_authAgent(channel: number, window: number, packet: number): void }
}

/** Window and packet sizes in bytes that ssh2 uses for its other channels. */
const WINDOW = 2 * 1024 * 1024
const PACKET = 32 * 1024

/** Opens a channel to the SSH agent of a client that has allowed it (`ssh -A`). Rejects with the client's error. */
export function openAgentChannel(client: ssh2.Connection): Promise<Duplex> {
  const { _chanMgr: channels, _protocol: protocol } = client as unknown as ChannelOpener // its private parts
  return new Promise((resolve, reject) => {
    const id = channels.add((error, channel) => (error ? reject(error) : resolve(channel)))
    if (id === -1) reject(new Error('the connection has too many channels'))
    else protocol.openssh_authAgent(id, WINDOW, PACKET)
  })
}
