import { PlatformClient, type PlatformRequest } from '../../client/client.ts'

/** Milliseconds for an answer that is no stream. */
const DEADLINE = 30_000

/** The platform that this page came from; the browser sends the session's cookie, which no script can read. */
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
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    void reader.cancel().catch(() => {})
  }
}
