/** Event of the forwards of a session. */
export type ForwardEvent =
  /** The requested port of this machine is unavailable, so another port forwards to the same target. */
  | {
      readonly kind: 'moved'
      readonly wanted: number
      readonly why: string
      readonly local: string
      readonly remote: string
    }
  /** The port is in use by another process; the forward waits until the port is free. */
  | { readonly kind: 'waiting'; readonly local: string; readonly remote: string; readonly why: string }
  /** A connection to the container failed. */
  | { readonly kind: 'refused'; readonly local: string; readonly remote: string; readonly why: string }
  /** The Pod cannot listen on the port of a reverse forward; the forward retries. */
  | { readonly kind: 'not-reversed'; readonly port: number; readonly why: string }
  /** A connection from the Pod to this machine failed. */
  | { readonly kind: 'reverse-refused'; readonly port: number; readonly local: string; readonly why: string }

/** Returns the text of an event for the user. */
export function forwardText(event: ForwardEvent): string {
  switch (event.kind) {
    case 'moved':
      return `${event.why}: ${event.local} leads to ${event.remote} instead`
    case 'waiting':
      return `${event.why}: ${event.local} is forwarded to ${event.remote} as soon as it is free`
    case 'refused':
      return `${event.local} → ${event.remote}: ${event.why}`
    case 'not-reversed':
      return `port ${event.port} of the container does not lead here: ${event.why}`
    case 'reverse-refused':
      return `port ${event.port} of the container → ${event.local}: ${event.why}`
  }
}
