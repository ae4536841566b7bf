import type { Duplex } from 'node:stream'

/**
 * Connects two streams, sockets or channels, in both directions. The end of a stream is passed on after its last byte,
 * and the other direction continues; if one stream fails, the other fails, too.
 */
export function join(one: Duplex, other: Duplex): void {
  pass(one, other)
  pass(other, one)
}

function pass(from: Duplex, to: Duplex): void {
  let hasEnded = false
  from.pipe(to, { end: false })
  from.once('end', () => {
    hasEnded = true
    endWriting(to)
  })
  from.once('error', () => breakOff(to))
  from.once('close', () => {
    if (!hasEnded) breakOff(to)
    else if (to.writableFinished) to.destroy()
    else to.once('finish', () => to.destroy())
  })
}

/**
 * Ends one direction of a stream. A channel of an ssh2 server would close both directions at `end()`. For such a
 * channel, sends `eof()` after the last byte, and closes the channel when the other direction has ended, too.
 */
export function endWriting(stream: Duplex): void {
  const channel = stream as Duplex & { eof?: () => void; server?: boolean }
  if (!channel.eof || !channel.server) {
    stream.end()
    return
  }
  if (stream.readableEnded) stream.end()
  else {
    stream.once('end', () => stream.end())
    // An empty write calls back after all previous writes.
    stream.write('', () => channel.eof?.())
  }
}

/** Ends a stream so that its reader notices that data is missing. */
function breakOff(stream: Duplex): void {
  const socket = stream as Duplex & { resetAndDestroy?: () => void }
  if (socket.resetAndDestroy && !stream.destroyed) socket.resetAndDestroy()
  else stream.destroy()
}
