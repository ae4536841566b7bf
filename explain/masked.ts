import type { KnownSecrets } from '../compiler/values/secrets/known-secrets.ts'
import { isMap } from '../environment/plan/comparison.ts'
import type { FieldExplanation } from './explain-field.ts'
import type { NodeExplanation } from './explain-node.ts'
import type { SourceLine } from './source-line.ts'

type Secrets = Pick<KnownSecrets, 'mask' | 'maskValue'>

const HIDDEN = '***'

/** Returns the explanation without secret values. */
export function maskedNode(node: NodeExplanation, secrets: Secrets): NodeExplanation {
  return {
    ...maskedLines(node, secrets),
    becomes: node.becomes.map(({ object, fields }) => ({
      object,
      ...(fields && {
        fields: fields.map(({ path, value }) => ({ path, value: masked(object, path, value, secrets) })),
      }),
    })),
  }
}

/** Returns the explanation of an object's value, with secret values masked. */
export function maskedField(field: FieldExplanation, object: string, secrets: Secrets): FieldExplanation {
  return {
    ...field,
    value: masked(object, field.path, field.value, secrets),
    nodes: field.nodes.map(node => maskedLines(node, secrets)),
  }
}

function maskedLines<Node extends Pick<NodeExplanation, 'line' | 'replaced'>>(node: Node, secrets: Secrets): Node {
  const inLine = (line: SourceLine): SourceLine => ({
    ...line,
    ...(line.text !== undefined && { text: secrets.mask(line.text) }),
  })
  return { ...node, line: inLine(node.line), replaced: node.replaced.map(inLine) }
}

/** Returns a value without secrets: hides the data of Secrets, and masks secret values in other objects. */
function masked(object: string, path: string, value: unknown, secrets: Secrets): unknown {
  if (object.startsWith('secret/') && /^(data|stringData)\b/.test(path)) return HIDDEN
  if (typeof value === 'string') return secrets.maskValue(value)
  if (Array.isArray(value)) return value.map(one => masked(object, path, one, secrets))
  if (!isMap(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, masked(object, path, one, secrets)]))
}
