import type { SecretRules } from '../../../options.ts'
import type { Spared } from '../../../text/interpolate.ts'
import { get, isMap, isSeq, type MapTree, type ScalarTree, type Tree } from '../../../text/tree.ts'
import { needsValues } from '../../../values/secrets/secret-backends.ts'
import { isTopLevelExtension } from '../../keys/sections.ts'
import { isServiceSection, servicesAndJobs } from '../service-sections.ts'

/**
 * Returns a function that decides which values of a document need not be set because a Secret in the cluster has them;
 * for example, a pipeline does not set `${DB_PASSWORD:?}`. The function matches variables by name in any service or
 * job, because `extends` may copy a variable to another service. If a value is needed although the function has excused
 * it, `read/environment.ts` reports the value. Returns undefined if no values come from Secrets, or if the backend
 * encrypts values and therefore needs all of them.
 */
export function valuesFromSecrets(
  document: MapTree,
  rules: SecretRules | undefined,
): ((path: readonly string[], scalar: ScalarTree) => Spared | undefined) | undefined {
  if (!rules || rules.values.size === 0 || needsValues(rules.backend)) return undefined
  const variables = new Set([...rules.values.keys()].map(path => path.slice(path.lastIndexOf('.environment.') + 13)))
  // A value that comes from an anchor below `x-…` has the same position as the anchor.
  const anchored = new Set<number>()
  const find = (service: string, name: string, scalar: ScalarTree, value: ScalarTree): Spared | undefined => {
    if (!variables.has(name)) return undefined
    anchored.add(scalar.span.start)
    return { value, isCertain: rules.values.has(`services.${service}.environment.${name}`) }
  }
  for (const [service, name, scalar] of variablesOf(document)) find(service, name, scalar, scalar)

  return ([section = '', owner = '', key, name = ''], scalar) => {
    if (isServiceSection(section) && key === 'environment') {
      const listed = get(document, section, owner, 'environment')
      if (!isSeq(listed)) return find(owner, name, scalar, { ...scalar, type: 'null', value: null })
      const variable = nameIn(scalar)
      return find(owner, variable, scalar, { ...scalar, value: variable })
    }
    // The file of a secret is not read if the cluster already has the secret.
    if (section === 'secrets' && rules.values.has(`secrets.${owner}`)) return { value: scalar, isCertain: true }
    return isTopLevelExtension(section) && anchored.has(scalar.span.start)
      ? { value: scalar, isCertain: true }
      : undefined
  }
}

function* variablesOf(document: MapTree): Generator<readonly [service: string, name: string, value: ScalarTree]> {
  for (const [service, value] of servicesAndJobs(document)) {
    const environment: Tree | undefined = get(value, 'environment')
    if (isMap(environment))
      for (const [name, { value: scalar }] of environment.entries)
        if (scalar.kind === 'scalar') yield [service, name, scalar]
    if (isSeq(environment))
      for (const item of environment.items) if (item.kind === 'scalar') yield [service, nameIn(item), item]
  }
}

const nameIn = ({ value }: ScalarTree): string => String(value).split('=', 1)[0]!
