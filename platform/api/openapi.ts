import type { TSchema } from 'typebox'
import { errorBody } from './common.ts'
import { API } from './prefix.ts'
import type { ApiRoute } from './route.ts'
import { ROUTES } from './routes.ts'

/** Descriptions of who may call a route, by its `caller`. */
const CALLERS: Readonly<Record<ApiRoute['caller'], string>> = {
  nobody: 'Needs no login.',
  user: 'Any token of a user.',
  person: 'A login of a browser or a command line; not a token for programs.',
  admin: 'An administrator.',
  registry: 'A token of a user or a login for images, as a bearer token or as the password of basic authentication.',
}

/**
 * Returns the API of the platform as an OpenAPI 3.1 document. The schemas of the route table are used unchanged,
 * because Schema Objects of OpenAPI 3.1 are JSON Schema.
 */
export function openApi(version: string): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const [name, route] of Object.entries(ROUTES) as readonly [string, ApiRoute][]) {
    const [method = '', path = ''] = name.split(' ')
    const at = API + path.replaceAll(/:(\w+)/g, '{$1}')
    paths[at] = { ...paths[at], [method.toLowerCase()]: operation(name, route) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'devctl platform', version },
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))),
    components: {
      schemas: { Error: errorBody },
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
  }
}

function operation(name: string, route: ApiRoute): object {
  const { caller, params, query, body, audit, isSecret } = route
  return {
    operationId: name
      .replace(/^\w+/, verb => verb.toLowerCase())
      .replaceAll(/[^A-Za-z]+(\w)/g, (_, letter: string) => letter.toUpperCase()),
    ...(audit !== undefined && { summary: audit }),
    description: `${CALLERS[caller]}${isSecret ? ' The response contains a credential.' : ''}`,
    ...(caller !== 'nobody' && { security: [{ token: [] }] }),
    ...((params ?? query) && { parameters: [...parametersOf(params, 'path'), ...parametersOf(query, 'query')] }),
    ...(body && { requestBody: { required: true, content: { 'application/json': { schema: body } } } }),
    responses: {
      ...success(route),
      default: {
        description: 'refused, with the reason',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    },
  }
}

function success({ reply, events, isUpgrade }: ApiRoute): object {
  if (isUpgrade)
    return { 101: { description: 'a connection for bytes in both directions; the request needs the header `Upgrade`' } }
  const schema = reply ?? events
  if (!schema) return { 204: { description: 'done' } }
  const description = events ? 'a stream of these events, each in a `data` line' : 'done'
  return { 200: { description, content: { [events ? 'text/event-stream' : 'application/json']: { schema } } } }
}

function parametersOf(shape: TSchema | undefined, where: 'path' | 'query'): readonly object[] {
  const { properties = {}, required = [] } = (shape ?? {}) as {
    readonly properties?: Readonly<Record<string, TSchema>>
    readonly required?: readonly string[]
  }
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: where,
    required: required.includes(name),
    schema,
  }))
}
