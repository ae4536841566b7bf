import type { Socket } from 'node:net'

/** The longest line that is read: a report with all problems and conflicts. */
const LONGEST = 8 * 1024 * 1024

/** The lines that come over a connection. Throws if one is too long. */
export async function* linesOf(socket: Socket): AsyncIterable<string> {
  let rest = ''
  socket.setEncoding('utf8')
  for await (const chunk of socket as AsyncIterable<string>) {
    rest += chunk
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
      yield rest.slice(0, end)
      rest = rest.slice(end + 1)
    }
    if (rest.length > LONGEST) throw new Error('the line is too long')
  }
}
