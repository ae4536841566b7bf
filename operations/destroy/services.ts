import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UsageError, UserError } from '../../compiler/diagnostics/user-error.ts'
import type { Plan } from '../../compiler/plan/plan.ts'
import { isWorkload } from '../../constructs/kinds.ts'
import type { DestroyEnvironmentInput } from '../../environment/apply/destroy.ts'
import { serviceOf } from '../../environment/plan/desired-state.ts'
import { leadsOf, objectsOfServices } from '../../environment/plan/part.ts'
import type { KnownEnvironment } from '../../project/known-environment.ts'
import { serviceWords } from '../../project/names/service-words.ts'
import type { Questions } from '../../project/questions.ts'
import type { DestroyInput } from './input.ts'

/** Throws a UsageError if services are named together with an option that applies to the full environment. */
export function refuseForServices({ all, dependencies }: Pick<DestroyInput, 'all' | 'dependencies'>): void {
  for (const [option, isGiven] of Object.entries({ '--all': all, '--dependencies': dependencies }))
    if (isGiven)
      throw new UsageError(`\`${option}\` applies to the whole environment`, { hint: 'remove the service names' })
}

/**
 * Returns a function that selects the objects of the named services. If remaining services depend on the named ones,
 * the function first asks for confirmation, or requires `--yes`. It throws a UserError for a name that is not a
 * service, and for a service that runs in the Pods of another service.
 */
export async function selectServices(
  ask: Questions | undefined,
  words: readonly string[],
  known: KnownEnvironment,
  options: Pick<DestroyInput, 'yes'>,
): Promise<NonNullable<DestroyEnvironmentInput['select']>> {
  const toLabels = await serviceWords(known)
  return async (objects, namespace) => {
    // If the namespace does not exist, only the files know which services were in it.
    if (namespace === 'gone' && objects.length === 0 && !known.project) return []
    const named = toLabels(words, objects)
    const leads = leadsOf(objects)
    for (const label of named) refuseMember(label, leads.get(label), named)
    const members = [...leads].filter(([, lead]) => named.has(lead)).map(([member]) => member)
    const services = new Set([...named, ...members])
    const dependants = dependantsOf(services, known.plan, objects)
    if (dependants.length > 0) await confirm(ask, options, words, dependants)
    return objectsOfServices(objects, services)
  }
}

function refuseMember(label: string, lead: string | undefined, named: ReadonlySet<string>): void {
  if (lead === undefined || named.has(lead)) return
  throw new UserError(`\`${label}\` runs in the Pods of \`${lead}\``, {
    hint: `\`devctl destroy ${lead}\` deletes both; to delete only \`${label}\`, remove it from the Compose file and deploy`,
  })
}

interface Dependant {
  readonly service: string
  readonly needs: string
}

/**
 * Returns the remaining services of the cluster that, according to the files, depend directly or indirectly on services
 * to destroy. Direct dependents come first.
 */
function dependantsOf(
  services: ReadonlySet<string>,
  plan: Plan | undefined,
  objects: readonly KubeObject[],
): readonly Dependant[] {
  const there = new Set(objects.filter(isWorkload).map(serviceOf))
  const workloads = (plan?.workloads ?? []).filter(({ service }) => there.has(service))
  const gone = new Set(services)
  const next = (): readonly Dependant[] => {
    const found = workloads.flatMap(({ service, dependencies = [] }) => {
      const needs = dependencies.find(one => gone.has(one.service))?.service
      return needs !== undefined && !gone.has(service) ? [{ service, needs }] : []
    })
    for (const { service } of found) gone.add(service)
    return found.length > 0 ? [...found, ...next()] : []
  }
  return next()
}

async function confirm(
  ask: Questions | undefined,
  { yes }: Pick<DestroyInput, 'yes'>,
  words: readonly string[],
  dependants: readonly Dependant[],
): Promise<void> {
  if (yes) return
  const text = dependants.map(({ service, needs }) => `\`${service}\` depends on \`${needs}\``).join(', ')
  const names = dependants.map(({ service }) => service).join(' ')
  if (!ask?.mayDestroyNeeded)
    throw new UserError(text, {
      hint: `name all of them: \`devctl destroy ${words.join(' ')} ${names}\`; or add \`--yes\``,
    })
  if (!(await ask.mayDestroyNeeded(words, text.replaceAll('`', '')))) throw new UserError('nothing was destroyed')
}
