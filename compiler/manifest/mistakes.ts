import { type DiagnosticKind, diagnostic } from '../diagnostics/diagnostic.ts'
import { didYouMean } from '../diagnostics/suggest.ts'
import { knownKeys } from '../schema/describe.ts'
import * as schema from '../schema/diagnostics.ts'
import { formatPath, type ModelPath } from '../schema/model-path.ts'
import { shapeOf } from '../schema/row.ts'
import type { MapForm } from '../schema/shape.ts'
import { onlyMainKeys } from './dev-shape.ts'
import { manifestShape } from './shape.ts'

// Structural errors of a manifest. The messages are the same as for Compose files, but the explanations are about
// manifests.

const unknownKey: DiagnosticKind<schema.KeyProblem> = diagnostic({
  code: 'manifest/unknown-key',
  severity: 'error',
  explain: `The manifest has a key that devctl does not know. It is refused, because a misspelt key would otherwise be ignored silently.

\`docs/manifest.md\` lists all keys. Keys of your own begin with \`x-\`: they are accepted everywhere and ignored.`,
  text: ({ path, key, hint, notes }) => ({
    message: `unknown key \`${key}\` ${path.length === 0 ? 'at the top level of the manifest' : `in \`${formatPath(path)}\``}`,
    hint,
    notes,
  }),
})

const wrongType: typeof schema.wrongType = diagnostic({
  code: 'manifest/wrong-type',
  severity: 'error',
  explain: `The type of a value does not match its key: a mapping instead of a list, a number instead of text.

YAML does not read all words as text: \`1.10\` is a number, \`true\` a boolean, \`null\` null. Quote them to make them text:

\`\`\`yaml
name: "2048"
\`\`\``,
  text: schema.wrongType.text,
})

const nullValue: typeof schema.nullValue = diagnostic({
  code: 'manifest/no-value',
  severity: 'error',
  explain: `A key or a list item of the manifest has no value. It is not clear if it is empty on purpose or missing. Write a value, or remove the key.`,
  text: schema.nullValue.text,
})

const missingKey: typeof schema.missingKey = diagnostic({
  code: 'manifest/missing-key',
  severity: 'error',
  explain: `A mapping of the manifest lacks a required key: \`command\` of a named command, \`repository\` of a dependency, \`sync\` of an additional container of a development container.

\`\`\`yaml
deploy:
  - name: Create the schema
    command: psql -f schema.sql
\`\`\``,
  text: schema.missingKey.text,
})

const notAllowed: typeof schema.notAllowed = diagnostic({
  code: 'manifest/not-allowed',
  severity: 'error',
  explain: `The value is not one of the allowed words or forms of its key. The message or its note lists them.`,
  text: schema.notAllowed.text,
})

const outOfRange: typeof schema.outOfRange = diagnostic({
  code: 'manifest/out-of-range',
  severity: 'error',
  explain: `A number of the manifest is outside the range of its key: a port is 1 to 65535, \`sshServerPort\` is 1025 or more, because lower ports need root.`,
  text: schema.outOfRange.text,
})

const badName = diagnostic<Parameters<typeof schema.badName.text>[0]>({
  code: 'manifest/bad-name',
  severity: 'error',
  explain: `The name of an environment consists of lower-case letters, digits and \`-\`, and does not begin or end with \`-\`. It becomes part of object names and folders. Other names must not be empty.`,
  text: ({ path, name, notes }) => ({
    message:
      name === ''
        ? `a name in \`${formatPath(path)}\` is empty`
        : `\`${name}\` is not a valid name in \`${formatPath(path)}\``,
    hint: name === '' ? undefined : 'use lower-case letters, digits and `-`',
    notes,
  }),
})

/**
 * Top-level keys that exist in manifests of other tools or in Compose files, but not in devctl manifests, with a hint
 * for each.
 */
const foreign: Readonly<Record<string, string>> = {
  icon: 'devctl has no icons: remove it',
  external: 'devctl does not list external resources: write their addresses into `deploy.commands`',
  test: 'devctl runs no tests: run them in a command of `deploy`, or in your pipeline',
  divert: 'devctl does not divert traffic: remove it',
  remote: 'commands run on this machine: remove it',
  services:
    'services go into a Compose file: name it in `deploy.compose`, or put it beside the manifest as `compose.yaml`',
  volumes: 'volumes go into a Compose file',
  version: 'a manifest has no version: remove it',
}

function hintForUnknown(key: string, _value: unknown, form: MapForm, path: ModelPath): string | undefined {
  if (path[0] === 'dev' && path.at(-2) === 'services' && onlyMainKeys.includes(key))
    return `only the container itself can have \`${key}\`, not one of its \`services\``
  if (path[0] === 'dev' && path.length === 2 && key === 'replicas') return 'only its `services` have `replicas`'
  if (path.length < 2 && Object.hasOwn(foreign, key)) return foreign[key]
  const near = didYouMean(key, knownKeys(form))
  if (near !== undefined) return near
  const inside = Object.entries(form.keys).find(([, field]) => {
    const map = shapeOf(field).map
    return map && !map.others && Object.hasOwn(map.keys, key)
  })
  if (inside) return `\`${key}\` belongs in \`${inside[0]}\``
  if (path.length > 0 && Object.hasOwn(manifestShape.map!.keys, key))
    return `\`${key}\` belongs further out: check the indentation`
  return 'remove it; keys of your own begin with `x-`'
}

/** Diagnostics for structural mistakes in a manifest. */
export const manifestMistakes: schema.SchemaDiagnostics = {
  badName,
  // No shape in a manifest has unique lists, ignored keys or odd values, so these are never reported.
  duplicateItem: schema.duplicateItem,
  ignoredKey: schema.ignoredKey,
  oddValue: schema.oddValue,
  hintForUnknown,
  missingKey,
  notAllowed,
  nullValue,
  outOfRange,
  unknownKey: () => unknownKey,
  wrongType,
}
