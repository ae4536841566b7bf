import type { Socket } from 'node:net'

/** Maximum length of a line in characters. A report with all problems and conflicts has to fit in it. */
const LONGEST = 8 * 1024 * 1024

/** Yields the lines received over a connection. Throws if a line is too long. */
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
