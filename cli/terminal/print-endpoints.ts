import { jsonText } from '../../compiler/values/printable.ts'
import type { Endpoint } from '../../operations/objects/endpoints/endpoints.ts'

export type EndpointFormat = 'text' | 'json' | 'md'

/** Endpoints in the form that `--output` asks for; ends with a line end. */
export function renderEndpoints(endpoints: readonly Endpoint[], format: EndpointFormat): string {
  switch (format) {
    case 'json': {
      const records = endpoints.map(({ url, services, isReady, reason, status, certificate }) => {
        return { url, services, ready: isReady, reason, status, certificate }
      })
      return `${jsonText(records, 2)}\n`
    }
    case 'md': {
      const items = endpoints.map(
        ({ url, reason }) => `\n - [${url}](${url})${reason ? ` (not ready: ${reason})` : ''}\n`,
      )
      return `Available endpoints:\n${items.join('')}`
    }
    default:
      return endpointLines(endpoints)
        .map(line => `${line}\n`)
        .join('')
  }
}

/** A line for each endpoint: its services, its address, and what is wrong with it. */
function endpointLines(endpoints: readonly Endpoint[]): readonly string[] {
  const names = endpoints.map(({ services }) => services.join(', '))
  const width = (texts: readonly string[]) => Math.max(0, ...texts.map(text => text.length))
  const [nameWidth, urlWidth] = [width(names), width(endpoints.map(({ url }) => url))]
  return endpoints.map(({ url, reason, status, certificate }, index) => {
    const said = status === undefined ? '' : `, answers ${status}`
    const trust = certificate === undefined ? '' : `; its certificate is not trusted: ${certificate}`
    const state = `${reason === undefined ? `ready${said}` : `not ready: ${reason}`}${trust}`
    return `${names[index]!.padEnd(nameWidth)}  ${url.padEnd(urlWidth)}  ${state}`
  })
}
