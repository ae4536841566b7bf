import { PlatformClient, type PlatformRequest } from '../../client/client.ts'

/** Timeout for a response that is not a stream, in milliseconds. */
const DEADLINE = 30_000
/** Maximum time without data from a stream, in milliseconds; the platform sends a keep-alive every 15 s. */
const SILENCE = 40_000

/** The platform that served this page. The browser sends the session cookie, which scripts cannot read. */
export const platform = new PlatformClient({
  async whole(request) {
    const late = AbortSignal.timeout(DEADLINE)
    const answer = await send(request, request.signal ? AbortSignal.any([request.signal, late]) : late)
    return { status: answer.status, text: await answer.text() }
  },
  async stream(request) {
    const answer = await send(request, request.signal)
    return { status: answer.status, chunks: chunksOf(answer) }
  },
})

const send = ({ method, path, body, after }: PlatformRequest, signal: AbortSignal | undefined): Promise<Response> =>
  fetch(path, {
    method,
    credentials: 'same-origin',
    redirect: 'error',
    headers: {
      accept: 'application/json, text/event-stream',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(after !== undefined && { 'last-event-id': after }),
    },
    ...(body !== undefined && { body }),
    ...(signal && { signal }),
  })

async function* chunksOf({ body }: Response): AsyncGenerator<string> {
  if (!body) return
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  const end = () => void reader.cancel().catch(() => {})
  try {
    for (;;) {
      // A connection that broke without notice looks like a stream without events, so a timeout ends it.
      let isSilent = false
      const timer = setTimeout(() => {
        isSilent = true
        end()
      }, SILENCE)
      const { done, value } = await reader.read().finally(() => clearTimeout(timer))
      if (isSilent) throw new Error('the stream gives no sign of life')
      if (done) return
      yield value
    }
  } finally {
    end()
  }
}
