import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { portOwner } from '../../adapters/process/port-owner.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'

/** Port of this machine with a listener. */
export interface LocalPort {
  readonly port: number
  /** Stops accepting connections; open connections continue. */
  close(): void
}

const ADDRESS_HINT =
  'use an address of this machine, such as 127.0.0.1; macOS has others after `sudo ifconfig lo0 alias 127.0.0.2`'

/** Error for a port of this machine that cannot be opened. */
export class PortUnavailable extends Error {
  readonly reason: 'busy' | 'forbidden' | 'address' | 'other'
  readonly port: number

  constructor(reason: PortUnavailable['reason'], port: number, message: string) {
    super(message)
    this.reason = reason
    this.port = port
  }

  /**
   * Returns a UserError that names the process using the port, and contains the hint, which says what to use instead of
   * the port.
   */
  async toUserError(hint: string): Promise<UserError> {
    const notes = this.reason === 'busy' ? await ownerNotes(this.port) : []
    const ofReason = { busy: hint, forbidden: hint, address: ADDRESS_HINT, other: undefined }[this.reason]
    return new UserError(this.message, { ...(ofReason !== undefined && { hint: ofReason }), notes, cause: this })
  }
}

/** Returns a note that names the process using a port, or no note if the process is unknown. */
export async function ownerNotes(port: number): Promise<readonly string[]> {
  const owner = await portOwner(port)
  return owner ? [`\`${owner.name}\` (process ${owner.process}) listens on it`] : []
}

/**
 * Listens on a port of one address of this machine, or of both loopback addresses, because a browser may use either for
 * `localhost`. Port 0 stands for any free port. Rejects with a PortUnavailable.
 */
export async function listenLocally(
  address: string | undefined,
  port: number,
  connect: (socket: Socket) => void,
): Promise<LocalPort> {
  const servers: Server[] = []
  const close = () => {
    for (const server of servers) server.close()
  }
  try {
    for (const one of address === undefined ? ['127.0.0.1', '::1'] : [address]) {
      const server = await listen(one, servers[0] ? portOf(servers[0]) : port, connect)
      if (server) servers.push(server)
    }
  } catch (error) {
    close()
    throw error
  }
  return { port: portOf(servers[0]!), close } // one of the addresses was there
}

/** Listens on one address. Returns undefined if this machine does not have the address, such as `::1` without IPv6. */
function listen(address: string, port: number, connect: (socket: Socket) => void): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer({ allowHalfOpen: true, noDelay: true }, connect)
    const fail = (reason: PortUnavailable['reason'], text: string) => reject(new PortUnavailable(reason, port, text))
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRNOTAVAIL' && address === '::1') resolve(undefined)
      else if (error.code === 'EADDRINUSE') fail('busy', `port ${port} of ${address} is in use`)
      else if (error.code === 'EACCES') fail('forbidden', `no permission to listen on port ${port}`)
      else if (error.code === 'EADDRNOTAVAIL')
        fail('address', `cannot listen on ${at(address, port)}: this machine does not have the address \`${address}\``)
      else fail('other', `cannot listen on ${at(address, port)}: ${error.message}`)
    })
    server.listen(port, address, () => resolve(server))
  })
}

/** Returns an address with a port; an IPv6 address is in brackets. */
export const at = (address: string, port: number): string =>
  `${address.includes(':') ? `[${address}]` : address}:${port}`

const portOf = (server: Server): number => (server.address() as AddressInfo).port
