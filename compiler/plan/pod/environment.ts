import type { Pair } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import { type PlanContext, sortBy } from '../context.ts'
import type { ContainerPlan, EnvPlan } from '../plan.ts'
import type { ConfigPair, SecretPair } from '../secrets/secret-sources.ts'

const badName = diagnostic({
  code: 'environment/bad-name',
  severity: 'error',
  explain:
    'The name of an environment variable in Kubernetes consists of printable ASCII characters except `=`. Most programs expect letters, digits and `_`.',
  text: (p: { name: string }) => ({
    message: `\`${p.name}\` is not a valid name of an environment variable in Kubernetes`,
    hint: 'use letters, digits and `_`',
  }),
})

const newName = diagnostic({
  code: 'environment/unusual-name',
  severity: 'warning',
  explain: `Before Kubernetes 1.32 the name of an environment variable consists of letters, digits, \`_\`, \`-\` and \`.\`, and does not begin with a digit; older clusters refuse the Pod. Later versions accept all printable ASCII characters except \`=\`.`,
  text: (p: { name: string }) => ({
    message: `Kubernetes before 1.32 refuses the environment variable \`${p.name}\``,
    hint: 'use letters, digits and `_`; many programs read `__` in place of `:`',
  }),
})

/**
 * Combines environment variables and sorts them by name; for duplicate names the last variable wins. Reports names that
 * Kubernetes refuses.
 */
export function toEnvironment(
  { reporter }: Pick<PlanContext, 'reporter'>,
  ...lists: (readonly (Pair | SecretPair | ConfigPair)[])[]
): ContainerPlan['env'] {
  const found = new Map<string, EnvPlan>()
  for (const pair of lists.flat()) {
    const { name, span, key = span } = pair
    if (!/^[-._a-zA-Z][-._a-zA-Z0-9]*$/.test(name)) {
      const isPrintable = /^[ -<>-~]+$/.test(name)
      reporter.report(isPrintable ? newName : badName, key, { name })
      if (!isPrintable) continue
    }
    found.set(name, toVariable(name, pair))
  }
  return sortBy(found.values(), ({ name }) => name)
}

function toVariable(name: string, pair: Pair | SecretPair | ConfigPair): EnvPlan {
  if ('secret' in pair) return { name, secret: pair.secret }
  return 'config' in pair ? { name, config: pair.config } : { name, value: pair.value }
}
