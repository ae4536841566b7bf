import type { ServiceDefinition } from '@grpc/grpc-js'
import { MESSAGES } from './messages.ts'

/** gRPC and the messages of the protocol. Loaded when something is built: they take a while to load. */
export async function loadProtocol() {
  const [grpc, { fromJSON }, { default: protobuf }] = await Promise.all([
    import('@grpc/grpc-js'),
    import('@grpc/proto-loader'),
    import('protobufjs'),
  ])
  const definitions = fromJSON(MESSAGES, { keepCase: true, longs: Number, defaults: false })
  return {
    grpc,
    service: (name: string) => definitions[name] as ServiceDefinition, // MESSAGES has it as a service
    types: protobuf.Root.fromJSON(MESSAGES),
  }
}

export type BuildkitProtocol = Awaited<ReturnType<typeof loadProtocol>>
