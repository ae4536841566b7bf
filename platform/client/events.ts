/** An event received from a stream. */
export interface ReceivedEvent<T> {
  readonly id?: string
  readonly data: T
}

/** Maximum number of characters of one event. */
const LONGEST = 4 * 1024 * 1024

/**
 * Parses a `text/event-stream` (HTML standard, section 9.2) with the fields that the platform sends: `id` and `data`.
 * An incomplete event at the end is dropped. Throws an Error if an event is too long.
 */
export async function* readEvents(chunks: AsyncIterable<string>): AsyncGenerator<ReceivedEvent<string>> {
  let rest = ''
  for await (const chunk of chunks) {
    rest += chunk
    const blocks = rest.split('\n\n')
    rest = blocks.pop() ?? ''
    if (rest.length > LONGEST) throw new Error('an event is too long')
    for (const block of blocks) {
      const event = toEvent(block)
      if (event) yield event
    }
  }
}

/** Parses one event; undefined for a keep-alive. */
function toEvent(block: string): ReceivedEvent<string> | undefined {
  let id: string | undefined
  const data: string[] = []
  for (const line of block.split('\n')) {
    if (line.startsWith('id: ')) id = line.slice(4)
    else if (line.startsWith('data: ')) data.push(line.slice(6))
  }
  return data.length === 0 ? undefined : { ...(id !== undefined && { id }), data: data.join('\n') }
}
