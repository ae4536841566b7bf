// Lists every key that the Compose Specification's JSON Schema knows, with the types that it allows there:
//
// node test/unit/compiler/compose/keys/compose-keys.mjs path/to/compose-spec.json >
// test/unit/compiler/compose/keys/compose-keys.json
//
// A path has `*` for what the user names and `[]` for an item of a list. Descriptions are left out.
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

/** The paths of a schema with their types, sorted: `services.*.build` → `object string`. */
export function composeKeys(schema) {
  const types = new Map()
  walk(schema, schema, [], types)
  types.delete('')
  return Object.fromEntries(
    [...types].sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, set]) => [path, [...set].sort().join(' ')]),
  )
}

function walk(node, root, path, types) {
  if (node.$ref) return walk(resolve(node.$ref, root), root, path, types)
  const key = path.join('.')
  if (!types.has(key)) types.set(key, new Set())
  for (const type of [node.type ?? []].flat()) types.get(key).add(type)
  for (const branch of [...(node.oneOf ?? []), ...(node.allOf ?? [])]) walk(branch, root, path, types)
  for (const [name, child] of Object.entries(node.properties ?? {})) walk(child, root, [...path, name], types)
  for (const [pattern, child] of Object.entries(node.patternProperties ?? {}))
    if (pattern !== '^x-') walk(child, root, [...path, '*'], types)
  if (node.items) walk(node.items, root, [...path, '[]'], types)
}

const resolve = (reference, root) =>
  reference
    .slice(2)
    .split('/')
    .reduce((at, step) => at[step], root)

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const schema = JSON.parse(readFileSync(process.argv[2], 'utf8'))
  process.stdout.write(`${JSON.stringify(composeKeys(schema), null, 2)}\n`)
}
