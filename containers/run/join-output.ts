import { PassThrough, type Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'

/**
 * Number of attempts to read the log while the program prints nothing. `PAUSE` is the time before each attempt, in
 * milliseconds.
 */
const ATTEMPTS = 10
const PAUSE = 100
/** Time in milliseconds within which output that is already in the log also arrives over the connection. */
const LATE = 20
/** Time without output after which the user is told that the connection exists, in milliseconds. */
const QUIET = 1000
/** Number of characters at the end of the received output by which this end is found in the log. */
const TAIL = 200

/** Program whose output is read. */
interface EndingProgram {
  /** Line for the user if the program prints nothing at first. */
  readonly quiet: string
  readonly signal: AbortSignal
  /** Waits for a limited time until the program has ended, so that the log is complete. */
  untilOver(): Promise<unknown>
}

/**
 * Returns the output of a terminal. Begins with the output from before the connection, which is read from the log, and
 * ends with the last output of the program, as far as the connection has lost it. The log has only complete lines, so a
 * prompt from before the connection is missing. A program that edits lines, such as Bash, repeats its prompt when the
 * terminal gets its size; if a program prints nothing, the first line is `quiet`. `readLog` returns the log with `\n`
 * as line ends.
 */
export function joinOutput(attached: Readable, readLog: () => Promise<string>, program: EndingProgram): Readable {
  const joined = new PassThrough()
  const received: Buffer[] = []
  let isOver = false
  let isJoined = false
  let tail = ''
  attached.on('data', (part: Buffer) => {
    tail = (tail + part.toString('utf8')).slice(-2 * TAIL)
    if (!isJoined) received.push(part)
    else if (!joined.write(part)) {
      attached.pause()
      joined.once('drain', () => attached.resume())
    }
  })
  // The user of the connection hears of its errors from `exit`.
  attached.on('error', () => {})
  const ended = new Promise<void>(resolve => attached.once('close', resolve).once('end', resolve))
  void ended.then(() => {
    isOver = true
  })
  const text = () => Buffer.concat(received).toString('utf8')
  const join = async () => {
    const missed = await missedOutput(readLog, text, () => isOver, program.signal)
    if (missed === undefined) {
      await program.untilOver()
      joined.end(toTerminal(await readLog()) || Buffer.concat(received))
      return
    }
    joined.write(toTerminal(missed))
    isJoined = true
    for (const part of received) joined.write(part)
    await Promise.race([ended, setTimeout(QUIET, undefined, { ref: false, signal: program.signal })])
    if (tail === '' && !missed && !isOver) joined.write(`${program.quiet}\r\n`)
    await ended
    await program.untilOver()
    const log = await readLog()
    joined.end(toTerminal(lostEnd(log, plain(tail).slice(-TAIL))))
  }
  join().catch(error => joined.destroy(error))
  return joined
}

/** Returns the text with the line ends of terminals replaced. */
const plain = (text: string): string => text.replaceAll(/\r+\n/g, '\n')
const toTerminal = (text: string): string => text.replaceAll('\n', '\r\n')

/**
 * Returns the output that a program printed before the connection; `received` returns the output that came over the
 * connection. If the program prints nothing while the log is read, the result is the log without the received lines at
 * its end. Otherwise, the longest overlap of the log with the received output is removed from the log. Undefined if the
 * program ends first.
 */
async function missedOutput(
  readLog: () => Promise<string>,
  received: () => string,
  isOver: () => boolean,
  signal: AbortSignal,
): Promise<string | undefined> {
  let log = ''
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    await setTimeout(PAUSE, undefined, { signal })
    const before = received()
    log = await readLog()
    await setTimeout(LATE, undefined, { signal })
    if (isOver()) return undefined
    if (received() === before) {
      const lines = plain(before).replace(/[^\n]*$/, '')
      if (log.endsWith(lines)) return log.slice(0, log.length - lines.length)
    }
  }
  return withoutOverlap(log, plain(received()))
}

/** Returns `text` without the longest part at its end that is also the beginning of `next`. */
export function withoutOverlap(text: string, next: string): string {
  for (let length = Math.min(text.length, next.length); length > 0; length--)
    if (text.endsWith(next.slice(0, length))) return text.slice(0, -length)
  return text
}

/**
 * Returns the end of the log that the connection did not deliver: the text after `tail`, the end of the received
 * output. Empty if the log does not contain `tail`.
 */
function lostEnd(log: string, tail: string): string {
  const at = tail === '' ? -1 : log.lastIndexOf(tail)
  const rest = at < 0 ? '' : log.slice(at + tail.length)
  // Some runtimes add the end of the last line to the log.
  return rest === '\n' ? '' : rest
}
