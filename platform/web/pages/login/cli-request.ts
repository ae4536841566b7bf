/** Login request of the command line that opened this page. */
export interface CliRequest {
  readonly port: number
  readonly state: string
  readonly challenge: string
  readonly label: string
}

/** Parses the request. Undefined if no command line would send it; the page then sends nothing anywhere. */
export function readCliRequest(query: Readonly<Record<string, string>>): CliRequest | undefined {
  const { port = '', state = '', challenge = '', label = '' } = query
  const number = /^\d{4,5}$/.test(port) ? Number(port) : 0
  if (number < 1024 || number > 65_535) return undefined
  if (!/^[A-Za-z0-9_-]{1,200}$/.test(state) || !/^[A-Za-z0-9_-]{43}$/.test(challenge)) return undefined
  return { port: number, state, challenge, label: label.slice(0, 60) || 'command line' }
}
