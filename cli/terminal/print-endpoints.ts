import { jsonText } from '../../compiler/values/printable.ts'
import type { Endpoint } from '../../environment/endpoints/endpoints.ts'
import type { NoEndpoints } from '../../operations/list/endpoints.ts'

export type EndpointFormat = 'text' | 'json' | 'name' | 'md'

/** Formats endpoints as `--output` requests, with a trailing newline. */
export function renderEndpoints(endpoints: readonly Endpoint[], format: EndpointFormat): string {
  switch (format) {
    case 'json': {
      const records = endpoints.map(({ url, services, isReady, reason, status, certificate }) => {
        return { url, services, ready: isReady, reason, status, certificate }
      })
      return `${jsonText(records, 2)}\n`
    }
    case 'name':
      return endpoints.map(({ url }) => `${url}\n`).join('')
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

/** Returns the reason why there are no endpoints, and how to get some; `context` is the context of the command. */
export const noEndpointsText = (none: NoEndpoints, context: string): string => WHY_NONE[none](context)

const WHY_NONE: Readonly<Record<NoEndpoints, (context: string) => string>> = {
  'not-deployed': () => 'it is not deployed there',
  'not-public': () => 'no service has a public port (`ports: ["80:8080"]`), and there are no `endpoints`',
  'not-http': () =>
    'none of the published ports gets a public address; publish a port that serves HTTP (`ports: ["80:8080"]`), or write `endpoints`',
  'no-domain': context =>
    `no domain is set, so published ports get no public address; deploy with \`devctl deploy --domain DOMAIN\`, or set it permanently with \`domain: DOMAIN\` in devctl.yml or \`devctl context use ${context} --domain DOMAIN\``,
  asleep: () => 'it sleeps; `devctl namespace wake` starts it',
  'no-routes': () =>
    'its routes do not exist; `devctl deploy`, with `--domain DOMAIN` if none is set, creates them as soon as a service behind them is ready',
  unknown: () =>
    'its last deploy created none, and the Compose files, which are not here or have errors, do not tell why; `devctl validate` checks them',
}

/** Returns a line for each endpoint: its services, its address and its problem, if any. */
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
