import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ChannelCredentials } from '@grpc/grpc-js'
import type { Grpc } from './protocol.ts'

/**
 * Credentials that replace or change the connection that gRPC has opened: the call goes over what
 * `connect` gives.
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
          // HTTP/2 runs on every Duplex; gRPC says Socket.
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
 * An address for gRPC, which needs one, where the connection is replaced: a port of this machine that
 * closes every connection.
 */
export async function placeholderTarget(): Promise<{ readonly target: string; readonly stop: () => void }> {
  const server = createServer(socket => socket.destroy()).unref()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { target: `dns:///127.0.0.1:${port}`, stop: () => server.close() }
}

/** Closes what gRPC has opened in vain. */
export const discard = (opened: Socket): void => void opened.on('error', () => {}).destroy()
