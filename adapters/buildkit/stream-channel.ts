import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ChannelCredentials } from '@grpc/grpc-js'
import type { Grpc } from './protocol.ts'

/**
 * Returns credentials that make gRPC use the connection that `connect` returns. `connect` may upgrade the connection
 * that gRPC has opened, or replace it with another.
 */
export function credentialsOver(grpc: Grpc, connect: (opened: Socket) => Promise<Duplex>): ChannelCredentials {
  class StreamCredentials extends grpc.ChannelCredentials {
    override _isSecure(): boolean {
      return false
    }

    override _equals(other: ChannelCredentials): boolean {
      return this === other
    }

    override _createSecureConnector(
      ...[, , callCredentials]: Parameters<ChannelCredentials['_createSecureConnector']>
    ) {
      const none = callCredentials ?? grpc.CallCredentials.createEmpty()
      return {
        connect: async (socket: Socket) => ({
          // HTTP/2 works on any Duplex, but the types of gRPC require a Socket.
          socket: (await connect(socket)) as Socket,
          secure: false,
        }),
        waitForReady: async () => {},
        getCallCredentials: () => none,
        destroy: () => {},
      }
    }
  }
  return new StreamCredentials()
}

/**
 * Returns a placeholder address for a gRPC client whose connection is replaced, because the client requires an address.
 * The address is a local port that closes every connection; `stop` frees the port.
 */
export async function placeholderTarget(): Promise<{ readonly target: string; readonly stop: () => void }> {
  const server = createServer(socket => socket.destroy()).unref()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { target: `dns:///127.0.0.1:${port}`, stop: () => server.close() }
}

/** Closes a connection that gRPC has opened but that is not used. */
export const discard = (opened: Socket): void => void opened.on('error', () => {}).destroy()
