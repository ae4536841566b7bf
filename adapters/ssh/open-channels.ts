import { Duplex } from 'node:stream'

/**
 * The open channels of a connection. When the connection is lost, ssh2 ends the channels as if their data were
 * complete. To end them with an error instead, call `break` before ssh2 does so.
 */
export class OpenChannels {
  readonly #open = new Set<Duplex>()

  keep<T extends Duplex>(channel: T): T {
    this.#open.add(channel)
    channel.on('error', () => {})
    channel.once('close', () => this.#open.delete(channel))
    return channel
  }

  break(error: Error): void {
    // ssh2's own `destroy` accepts no error.
    for (const channel of this.#open) Duplex.prototype.destroy.call(channel, error)
    this.#open.clear()
  }
}
