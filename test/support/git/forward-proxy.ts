import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy for http, which leads every host to one port of this machine. */
export interface ForwardProxy {
  readonly address: string
  /** The addresses that were asked for. */
  readonly asked: readonly string[]
  close(): Promise<void>
}

export async function forwardProxy(port: number): Promise<ForwardProxy> {
  const asked: string[] = []
  const server = createServer((from, to) => {
    asked.push(from.url ?? '')
    const { pathname, search } = new URL(from.url ?? '/', 'http://nowhere.invalid')
    const { method, headers } = from
    const onward = request({ host: '127.0.0.1', port, path: pathname + search, method, headers }, answer => {
      to.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(to)
    })
    onward.on('error', () => to.destroy())
    from.pipe(onward)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async close() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
