import type { SecretRules } from '../../options.ts'
import { get, isMap, isScalar, type MapTree, type Tree } from '../../text/tree.ts'
import { scalarText } from '../../text/tree-text.ts'
import type { VariableScope } from './variables.ts'

/**
 * Marks variables as secret, regardless of their names, if `secrets` or the environment's rules declare them: the
 * variables of `secrets.NAME.environment`, and the variables in values that a Secret replaces. Every other value that
 * uses such a variable becomes secret as well. If one variable in a replaced value is secret by its name
 * (`postgres://${DB_USER}:${DB_PASS}@db`), the other variables are not marked.
 */
export function findDeclaredSecrets(tree: MapTree, rules: SecretRules | undefined, variables: VariableScope): void {
  const { secrets } = variables
  const names = new Set<string>()
  const declared = get(tree, 'secrets')
  if (isMap(declared))
    for (const { value } of declared.entries.values()) {
      const variable = get(value, 'environment')
      if (isScalar(variable)) names.add(scalarText(variable))
    }
  for (const path of rules?.values.keys() ?? []) {
    const [, service, name] = /^services\.(.+)\.environment\.([^.]+)$/.exec(path) ?? []
    const value = service !== undefined && name !== undefined && get(tree, 'services', service, 'environment', name)
    if (!value || !isScalar(value) || value.type === 'null') continue
    secrets.addValue(scalarText(value))
    const used = value.variables ?? []
    if (!used.some(({ isSecret }) => isSecret)) for (const { name } of used) names.add(name)
  }
  const set = [...names].flatMap(name => {
    const value = variables.lookup(name)?.value
    return value === undefined ? [] : [[name, value] as const]
  })
  if (set.length === 0) return
  for (const [, value] of set) secrets.addValue(value)
  addUses(tree, new Map(set), variables)
}

function addUses(tree: Tree, values: ReadonlyMap<string, string>, variables: VariableScope): void {
  switch (tree.kind) {
    case 'map':
      for (const { value } of tree.entries.values()) addUses(value, values, variables)
      break
    case 'seq':
      for (const item of tree.items) addUses(item, values, variables)
      break
    case 'scalar':
      for (const { name, span, isSecret } of tree.variables ?? []) {
        const value = isSecret ? undefined : values.get(name)
        if (value !== undefined && scalarText(tree).includes(value))
          variables.secrets.add({ span, origin: `\`${name}\``, value })
      }
  }
}
