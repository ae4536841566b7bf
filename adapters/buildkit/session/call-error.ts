/** gRPC status codes: https://grpc.io/docs/guides/status-codes/. */
export const OK = 0
export const CANCELLED = 1
export const UNKNOWN = 2
export const INVALID_ARGUMENT = 3
export const NOT_FOUND = 5
export const ALREADY_EXISTS = 6
export const PERMISSION_DENIED = 7
export const RESOURCE_EXHAUSTED = 8
export const FAILED_PRECONDITION = 9
export const UNIMPLEMENTED = 12
export const UNAVAILABLE = 14

/** Error that a handler throws to end its RPC with a status code other than UNKNOWN. */
export class CallError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}
