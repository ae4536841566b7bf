import { type DiagnosticKind, diagnostic } from '../diagnostics/diagnostic.ts'
import { didYouMean } from '../diagnostics/suggest.ts'
import type { ScalarTree, Tree } from '../text/tree.ts'
import { joinWords, written } from './describe.ts'
import { describePath, type ModelPath } from './model-path.ts'
import type { MapForm, ScalarForm, Shape } from './shape.ts'

/** The parameters of every schema diagnostic. */
export interface SchemaProblem {
  readonly path: ModelPath
  readonly notes?: readonly string[]
}

/** The parameters of a diagnostic about an unknown key. */
export interface KeyProblem extends SchemaProblem {
  readonly key: string
  readonly hint?: string | undefined
}

/** The schema diagnostics for one kind of file, and the function that returns hints for its unknown keys. */
export interface SchemaDiagnostics {
  readonly badName: typeof badName
  readonly duplicateItem: typeof duplicateItem
  readonly hintForUnknown: (key: string, value: Tree, form: MapForm, path: ModelPath) => string | undefined
  readonly ignoredKey: typeof ignoredKey
  readonly missingKey: typeof missingKey
  readonly notAllowed: typeof notAllowed
  readonly nullValue: typeof nullValue
  readonly oddValue: typeof oddValue
  readonly outOfRange: typeof outOfRange
  readonly unknownKey: (path: ModelPath) => DiagnosticKind<KeyProblem>
  readonly wrongType: typeof wrongType
}

const inside = (path: ModelPath) => (path.length === 0 ? 'at the top level' : `in ${describePath(path)}`)

/** The parts of a file whose unknown keys have diagnostic codes of their own. `compose` covers all other parts. */
const parts: Readonly<Record<string, string>> = {
  compose: 'the top level of a Compose file',
  services: 'a service',
  volumes: 'a volume at the top level',
  networks: 'a network at the top level',
  secrets: 'a secret at the top level',
  configs: 'a config at the top level',
  models: 'a model',
  jobs: 'a job',
  endpoints: 'the endpoints',
}

const unknownKeys = new Map<string, DiagnosticKind<KeyProblem>>(
  Object.entries(parts).map(([family, part]) => [
    family,
    diagnostic<KeyProblem>({
      code: `${family}/unknown-key`,
      severity: 'error',
      explain: `A key in ${part} is neither in the Compose Specification nor in devctl's dialect. It is refused, because a misspelt key would otherwise be ignored silently.

\`docs/compose.md\` and its pages list all keys. Keys of your own begin with \`x-\`: they are accepted everywhere and ignored.`,
      text: ({ path, key, hint, notes }) => ({ message: `unknown key \`${key}\` ${inside(path)}`, hint, notes }),
    }),
  ]),
)

/** Returns the diagnostic for an unknown key in the mapping at `path`. */
export const unknownKey = (path: ModelPath): DiagnosticKind<KeyProblem> =>
  unknownKeys.get(String(path[0])) ?? unknownKeys.get('compose')!

export const ignoredKey = diagnostic<KeyProblem>({
  code: 'schema/ignored-key',
  severity: 'warning',
  loss: true,
  explain: `The Compose Specification allows any key in this mapping, but only some of them are used. This key is not, so it is ignored.

Check its spelling, or remove it.`,
  text: ({ path, key, hint, notes }) => ({
    message: `\`${key}\` ${inside(path)} is unknown and is ignored`,
    hint,
    notes,
  }),
})

export const wrongType = diagnostic<SchemaProblem & { tree: Tree; shape: Shape; allowed: string; found: string }>({
  code: 'schema/wrong-type',
  severity: 'error',
  explain: `The type of a value does not match its key: a mapping instead of a list, a number instead of text.

YAML does not read all words as text: \`1.10\` is a number, \`true\` a boolean, \`null\` null. Quote them to make them text:

\`\`\`yaml
user: "1000"
\`\`\`

A variable can be text, or the number or boolean that its key takes, but not a list or a mapping.`,
  text: ({ path, tree, shape, allowed, found, notes }) => ({
    message: `${describePath(path)} must be ${allowed}, not ${found}`,
    hint: hintForType(path, tree, shape),
    notes,
  }),
})

/** Returns the hint for a value of the wrong type. */
function hintForType(path: ModelPath, tree: Tree, shape: Shape): string | undefined {
  if (tree.kind === 'scalar') {
    if (shape.scalar?.types.includes('boolean')) return 'write `true` or `false`'
    if (tree.type === 'float' && shape.scalar?.digitsOnly)
      return Number.isSafeInteger(tree.value) ? `write \`${tree.value}\`` : 'write a whole number'
    if (shape.scalar?.types[0] === 'string' && tree.type !== 'string') return hintForUnquoted(tree, shape.scalar)
    if (tree.type === 'string' && shape.list?.items.scalar?.types.includes('string') && tree.template === undefined)
      return `write it as an item of a list: \`- ${tree.value}\``
    return undefined
  }
  // A common error: `- NAME: value` in a list of `NAME=value`.
  if (tree.kind === 'map' && typeof path.at(-1) === 'number' && tree.entries.size === 1 && !shape.map) {
    const [key] = tree.entries.keys()
    return `write \`- ${key}=…\`, or leave the dashes out where a mapping is allowed`
  }
  return undefined
}

/**
 * Returns the hint for a number or boolean that should be text: to put it in quotes, unless the text would be refused
 * as well.
 */
function hintForUnquoted(tree: ScalarTree, form: ScalarForm): string {
  const text = written(tree)
  if (form.hintForUnquoted) return form.hintForUnquoted(text)
  const isAllowed = (!form.words && !form.pattern) || form.words?.includes(text) || form.pattern?.test(text)
  return isAllowed ? `put it in quotes: \`"${text}"\`` : allowedBy(form)
}

/** Returns the allowed values and forms as a text. */
function allowedBy({ words = [], like }: ScalarForm): string {
  const allowed = [...words.filter(word => word !== '').map(word => `\`${word}\``), ...(like ? [like] : [])]
  return `allowed: ${joinWords(allowed, 'and')}`
}

export const nullValue = diagnostic<SchemaProblem & { allowed: string }>({
  code: 'schema/null-value',
  severity: 'error',
  explain: `A key, a list item or a service has no value. Compose does not allow this for most keys, because it is not clear if the value is empty on purpose or missing.

Write a value, or remove the key. To remove a value that an earlier file sets, write \`!reset\`:

\`\`\`yaml
services:
  web:
    ports: !reset null
\`\`\``,
  text: ({ path, allowed, notes }) => ({
    message:
      path[0] === 'services' && path.length === 2
        ? `${describePath(path)} is empty`
        : `${describePath(path)} has no value`,
    hint:
      path[0] === 'services' && path.length === 2
        ? 'give it an `image` or a `build`'
        : `write ${allowed}, or remove the ${typeof path.at(-1) === 'number' ? 'item' : 'key'}`,
    notes,
  }),
})

export const missingKey = diagnostic<SchemaProblem & { key: string }>({
  code: 'schema/missing-key',
  severity: 'error',
  explain: `A mapping lacks a required key: \`condition\` in the long form of \`depends_on\`, \`type\` in the long form of a volume, \`path\`, \`service\` and \`port\` in a rule of \`endpoints\`.

\`\`\`yaml
depends_on:
  db:
    condition: service_healthy
\`\`\``,
  text: ({ path, key, notes }) => ({
    message: `${describePath(path)} needs \`${key}\``,
    hint: `add \`${key}:\``,
    notes,
  }),
})

export const notAllowed = diagnostic<SchemaProblem & { form: ScalarForm; value: string; found: string }>({
  code: 'schema/not-allowed',
  severity: 'error',
  explain: `The value is not one of the allowed words or forms of its key. The message lists them.

Compose itself accepts some of these values, for example for \`restart\`, and does something unexpected. Quotes are not needed: \`restart: no\` is text in a Compose file.`,
  text: ({ path, form, value, found, notes }) => {
    const suggestion = value === '' ? undefined : didYouMean(value, form.words ?? [])
    return {
      message: `${describePath(path)} cannot be ${found}`,
      hint: suggestion ?? allowedBy(form),
      notes: suggestion ? [allowedBy(form), ...(notes ?? [])] : notes,
    }
  },
})

export const outOfRange = diagnostic<SchemaProblem & { form: ScalarForm; found: string }>({
  code: 'schema/out-of-range',
  severity: 'error',
  explain: `A number is outside the range of its key: \`cpu_percent\` is 0 to 100, \`oom_score_adj\` is -1000 to 1000, a port is 1 to 65535.`,
  text: ({ path, form: { minimum, maximum }, found, notes }) => ({
    message: `${describePath(path)} must be ${maximum === undefined ? `${minimum} or more` : `${minimum} to ${maximum}`}, not ${found}`,
    notes,
  }),
})

export const duplicateItem = diagnostic<SchemaProblem & { item: string }>({
  code: 'schema/duplicate-item',
  severity: 'error',
  explain: `A list of unique items has the same item twice. In most lists devctl removes duplicates, as Compose does when it merges files; in this list Compose makes them an error.

Remove one of the two.`,
  text: ({ path, item, notes }) => ({
    message: `${describePath(path)} has ${item} twice`,
    hint: 'remove one of them',
    notes,
  }),
})

export const badName = diagnostic<SchemaProblem & { name: string }>({
  code: 'schema/bad-name',
  severity: 'error',
  explain: `Names of services, volumes, networks, secrets, configs and models consist of letters (a to z, A to Z), digits, \`.\`, \`_\` and \`-\`. Names of other things must not be empty.

The names become names of Kubernetes objects and host names.`,
  text: ({ path, name, notes }) => ({
    message:
      name === ''
        ? `a name in ${describePath(path)} is empty`
        : `\`${name}\` is not a valid name in ${describePath(path)}`,
    hint: 'use letters, digits, `.`, `_` and `-`',
    notes,
  }),
})

export const oddValue = diagnostic<SchemaProblem & { says: string }>({
  code: 'schema/odd-value',
  severity: 'warning',
  explain: `devctl accepts the value, but Compose itself does not: the file would be an error there. An example is a \`container_name\` of one character.`,
  text: ({ path, says, notes }) => ({ message: `${describePath(path)} is unusual: ${says}`, notes }),
})
