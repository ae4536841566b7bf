import { composeShape } from '../compiler/compose/keys/compose.ts'
import { KINDS } from '../constructs/kinds.ts'

/** Subject of a question to `explain`. */
export type ExplainTarget =
  /** Key of the model: `services.web.ports[0]`. */
  | { readonly kind: 'key'; readonly text: string; readonly path: readonly (string | number)[] }
  /** Position in a file: `compose.yaml:14`, `compose.yaml:14:7`. */
  | { readonly kind: 'position'; readonly file: string; readonly line: number; readonly column?: number }
  /** Object and a path in it: `deployment/web spec.replicas`. */
  | { readonly kind: 'object'; readonly objectKind: string; readonly name: string; readonly path: readonly FieldStep[] }

/** Step of a path in an object: a key, an index, or the name of an item. */
export type FieldStep = string | number

/** Short names of kinds, as in kubectl. */
const SHORT: Readonly<Record<string, string>> = {
  cj: 'CronJob',
  cm: 'ConfigMap',
  deploy: 'Deployment',
  ds: 'DaemonSet',
  hpa: 'HorizontalPodAutoscaler',
  ing: 'Ingress',
  netpol: 'NetworkPolicy',
  pvc: 'PersistentVolumeClaim',
  sa: 'ServiceAccount',
  sts: 'StatefulSet',
  svc: 'Service',
}

/**
 * Parses the arguments of `explain`, and returns the subject of the question; undefined if the arguments can only be a
 * diagnostic code.
 */
export function parseTarget(subject: string, path: string | undefined): ExplainTarget | undefined {
  const position = /^(.+?):(\d+)(?::(\d+))?$/.exec(subject)
  if (position && path === undefined) {
    const [, file = '', line, column] = position
    return { kind: 'position', file, line: Number(line), ...(column !== undefined && { column: Number(column) }) }
  }
  const object = /^([a-z]+)\/([a-z0-9][\w.-]*)$/i.exec(subject)
  const objectKind = object && kindOf(object[1]!)
  if (objectKind) return { kind: 'object', objectKind, name: object[2]!, path: parsePath(path ?? '') }
  const isKey = /^[\w-]+[.[]/.test(subject) || Object.hasOwn(composeShape.map!.keys, subject)
  if (path !== undefined || object || !isKey) return undefined
  return { kind: 'key', text: subject, path: parsePath(subject) }
}

function kindOf(word: string): string | undefined {
  const plain = word.toLowerCase()
  const isIt = (kind: string) => [kind, `${kind}s`, `${kind}es`, kind.replace(/y$/, 'ies')].includes(plain)
  return SHORT[plain] ?? KINDS.find(({ kind }) => isIt(kind.toLowerCase()))?.kind
}

/**
 * Parses a path: keys with dots, indices and names in brackets (`containers[web]`, `containers[name="web"]`,
 * `labels["a.b/c"]`), or a JSON Pointer.
 */
export function parsePath(text: string): readonly FieldStep[] {
  if (text.startsWith('/'))
    return text
      .slice(1)
      .split('/')
      .map(step => toStep(step.replaceAll('~1', '/').replaceAll('~0', '~')))
  const steps: FieldStep[] = []
  for (const [, key, quoted, inner] of text.matchAll(/([^.[\]]+)|\[(?:\w+=)?"((?:[^"\\]|\\.)*)"\]|\[([^\]]*)\]/g))
    steps.push(key ?? quoted ?? toStep(inner!))
  return steps
}

const toStep = (text: string): FieldStep => (/^\d+$/.test(text) ? Number(text) : text)
