import { spawn } from 'node:child_process'
import { Duplex } from 'node:stream'

/** A Docker Engine on another machine. */
export interface SshHost {
  readonly ssh: string
  readonly user?: string
  readonly port?: string
}

/** Parses `[USER@]HOST[:PORT]`; undefined for any other text. The host may be an alias from the `ssh` configuration. */
export function parseSshHost(text: string): SshHost | undefined {
  const [, user, ssh, port] = /^(?:([^@/:\s]+)@)?(\[[^\]\s]+\]|[^@/:\s]+)(?::(\d{1,5}))?\/?$/.exec(text) ?? []
  // A name that begins with a dash would be parsed as an option.
  if (!ssh || ssh.startsWith('-') || user?.startsWith('-')) return undefined
  return { ssh: ssh.replace(/^\[|\]$/g, ''), ...(user && { user }), ...(port && { port }) }
}

/** Maximum number of characters of the error output of `ssh` that are kept: the end of the output states the error. */
const LONGEST_REASON = 500

/**
 * Connects to an engine as `docker` does: runs `docker system dial-stdio` over the user's `ssh`, with its
 * configuration, keys and known hosts. The connection fails with the error output of `ssh`.
 */
export function dialOverSsh({ ssh, user, port }: SshHost): Duplex {
  const options = ['-o', 'ConnectTimeout=30', '-T', ...(user ? ['-l', user] : []), ...(port ? ['-p', port] : [])]
  const child = spawn('ssh', [...options, '--', ssh, 'docker', 'system', 'dial-stdio'])
  const connection = new Duplex({
    read: () => child.stdout.resume(),
    // A failed write is not reported here: `ssh` prints the reason.
    write: (chunk, _, done) => child.stdin.write(chunk, () => done()),
    final: done => child.stdin.end(() => done()),
    destroy: (error, done) => {
      child.kill()
      done(error)
    },
  })
  let printed = ''
  child.stdin.on('error', () => {})
  child.stdout.on('data', data => {
    if (!connection.push(data)) child.stdout.pause()
  })
  child.stderr.setEncoding('utf8').on('data', text => {
    printed = (printed + text).slice(-LONGEST_REASON)
  })
  child.once('error', ({ message }) => connection.destroy(new Error(`\`ssh\` cannot be run: ${message}`)))
  child.once('close', status => {
    if (connection.destroyed) return
    if (status === 0) connection.push(null)
    else connection.destroy(new Error(printed.trim().split('\n').at(-1) || `\`ssh\` ended with status ${status}`))
  })
  connection.on('error', () => {})
  return connection
}
