import type { ServiceDefinition } from '@grpc/grpc-js'
import { SERVICES } from './messages.ts'
import { decodeMessage, encodeMessage, type WireValue } from './wire.ts'

/** The library of gRPC. Loaded when something is built: it takes a while to load. */
export const loadGrpc = () => import('@grpc/grpc-js')

export type Grpc = Awaited<ReturnType<typeof loadGrpc>>

/** A service of `SERVICES`, as gRPC takes it. */
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
