import { type Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Socket } from 'node:net'
import { NoAnswer, readBody } from './exchange.ts'

/** Maximum number of bytes that are read from a response that refuses the upgrade. */
const REFUSAL = 64 << 10

/** Error of a server that responded without switching to the other protocol. */
export class NotUpgraded extends Error {
  readonly status: number
  readonly text: string

  constructor(status: number, text: string) {
    super(`the server answers with status ${status}, and not with the protocol that was asked for`)
    this.status = status
    this.text = text
  }
}

/** A request to upgrade a connection to another protocol. */
export interface UpgradeRequest {
  readonly url: URL
  readonly protocol: string
  readonly headers: Readonly<Record<string, string>>
  /** Timeout for the response, in milliseconds. */
  readonly within: number
  /** Signal that cancels the request. After the upgrade, the signal closes the connection. */
  readonly signal: AbortSignal
}

/**
 * Asks a server to switch to another protocol over the same connection
 * (https://www.rfc-editor.org/rfc/rfc9110#field.upgrade), and returns the connection, which is always a socket of the
 * operating system. Rejects with NotUpgraded, NoAnswer, the connection's error, or the signal's abort reason.
 */
export function upgradeTo({ url, protocol, headers, within, signal }: UpgradeRequest, agent: Agent): Promise<Socket> {
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const sent = send(url, {
      agent,
      headers: { ...headers, 'user-agent': 'devctl', connection: 'Upgrade', upgrade: protocol },
    })
    // A request that waits for the tunnel of a proxy does not report that it was destroyed until the proxy answers.
    const giveUp = (error: Error) => {
      fail(error)
      sent.destroy(error)
    }
    const late = setTimeout(() => giveUp(new NoAnswer(false, within)), within)
    const stop = () => giveUp(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    const settle = () => {
      clearTimeout(late)
      signal.removeEventListener('abort', stop)
    }
    const fail = (error: unknown) => {
      settle()
      reject(signal.aborted ? signal.reason : error)
    }
    sent.once('error', fail)
    sent.once('response', (response: IncomingMessage) => {
      const refuse = (text: string) => fail(new NotUpgraded(response.statusCode ?? 0, text))
      readBody(response, { silence: within, limit: REFUSAL })
        .then(
          body => refuse(body.toString()),
          () => refuse(''),
        )
        .finally(() => sent.destroy())
    })
    sent.once('upgrade', (_, opened, head: Buffer) => {
      settle()
      // Agents open only sockets.
      const socket = opened as Socket
      if (head.length > 0) socket.unshift(head)
      const end = () => void socket.destroy()
      signal.addEventListener('abort', end, { once: true })
      socket.once('close', () => signal.removeEventListener('abort', end))
      resolve(socket)
    })
    sent.end()
  })
}
