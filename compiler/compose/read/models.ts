import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../diagnostics/reporter.ts'
import type { At } from '../../text/source.ts'
import type { MapTree } from '../../text/tree.ts'
import { maskSecrets } from '../../values/secrets/mask-secrets.ts'
import type { Model, Pair } from '../project.ts'
import { entries, nonEmptyText, text } from './tree-values.ts'

const badEndpoint = diagnostic({
  code: 'models/bad-endpoint',
  severity: 'error',
  explain: `\`x-endpoint\` of a model is the address at which its API is reachable from the cluster. It begins with \`http://\` or \`https://\`. Services of the project are reachable by their names.

\`\`\`yaml
models:
  llm:
    model: ai/smollm2
    x-endpoint: http://ollama:11434/v1
\`\`\``,
  text: (p: { text: string }) => ({
    message: p.text === '' ? '`x-endpoint` is empty' : `\`${maskSecrets(p.text)}\` is not a valid URL`,
    hint: 'write the address of the API, such as `http://ollama:11434/v1`',
  }),
})

/** Reads the top-level `models`. Reports an `x-endpoint` that is not an HTTP URL. */
export function readModels(tree: MapTree, reporter: Reporter): ReadonlyMap<string, Model> {
  const models = new Map<string, Model>()
  for (const [key, { key: span, value }] of entries(tree, 'models')) {
    const endpoint = text(value, 'x-endpoint')
    if (endpoint && !isHttpUrl(endpoint.value)) reporter.report(badEndpoint, endpoint.span, { text: endpoint.value })
    const model = nonEmptyText(value, 'model') ?? { value: key, span }
    models.set(key, { key, model, ...(endpoint && { endpoint }), span })
  }
  return models
}

/** Returns true for an absolute URL of HTTP or HTTPS without blanks. */
const isHttpUrl = (text: string): boolean => /^https?:\/\/[^/\s]\S*$/i.test(text) && URL.canParse(text)

/**
 * Returns the variables of a service for its `models`: the address and the name of each model that has an `x-endpoint`.
 */
export function modelVariables(service: MapTree, models: ReadonlyMap<string, Model>): readonly Pair[] {
  return [...entries(service, 'models')].flatMap(([name, { key, value }]) => {
    const { model, endpoint } = models.get(name) ?? {}
    if (!model || !endpoint) return []
    const prefix = name.toUpperCase().replace(/[^A-Z0-9]/g, '_')
    const variable = (own: 'endpoint_var' | 'model_var', otherwise: string, { value: content, span }: At<string>) => {
      const written = nonEmptyText(value, own)
      return { name: written?.value ?? `${prefix}_${otherwise}`, value: content, span, key: written?.span ?? key }
    }
    return [variable('endpoint_var', 'URL', endpoint), variable('model_var', 'MODEL', model)]
  })
}
