import type { ServiceDefinition } from '@grpc/grpc-js'
import { SERVICES } from './messages.ts'
import { decodeMessage, encodeMessage, type WireValue } from './wire.ts'

/** Loads the gRPC library; called only for a build, because loading takes a while. */
export const loadGrpc = () => import('@grpc/grpc-js')

export type Grpc = Awaited<ReturnType<typeof loadGrpc>>

/** Returns the gRPC definition of a service of `SERVICES`. */
export function serviceDefinition(service: string): ServiceDefinition {
  return Object.fromEntries(
    Object.entries(SERVICES[service]!).map(([name, { request, response, requestStream, responseStream }]) => [
      name,
      {
        path: `/${service}/${name}`,
        requestStream,
        responseStream,
        requestSerialize: (value: WireValue) => encodeMessage(request, value),
        requestDeserialize: (bytes: Buffer) => decodeMessage(request, bytes),
        responseSerialize: (value: WireValue) => encodeMessage(response, value),
        responseDeserialize: (bytes: Buffer) => decodeMessage(response, bytes),
      },
    ]),
  )
}
