import type { Project } from '../../compiler/compose/project.ts'
import { Reporter } from '../../compiler/diagnostics/reporter.ts'
import { didYouMean } from '../../compiler/diagnostics/suggest.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { LoadOptions } from '../../compiler/options.ts'
import type { Plan } from '../../compiler/plan/plan.ts'
import type { CompiledProject } from '../compile-files.ts'
import { manifestOf } from '../open-project.ts'
import type { OpenProject } from '../opened-project.ts'

/** Part of an application, selected by arguments of the command line. */
export interface Part {
  /** Selected services, with their names in the files. */
  readonly named: readonly string[]
  /** Cluster names of the selected services, and of their dependencies if they are included. */
  readonly services: ReadonlySet<string>
}

/**
 * Returns the options with which `compileFiles` compiles the full application and the named services. A service with
 * profiles is only compiled if it is named.
 */
export function including(
  names: readonly string[],
  project: OpenProject,
): Pick<LoadOptions, 'services' | 'activeServices'> {
  const chosen = manifestOf(project)?.deploy?.compose?.services.map(({ value }) => value) ?? []
  return {
    ...(names.length > 0 && { activeServices: names }),
    ...(names.length > 0 && chosen.length > 0 && { services: [...chosen, ...names] }),
  }
}

/**
 * Returns the part of the application that the arguments of a command select, with the dependencies of the services
 * unless `isAlone` is true. Returns undefined if there are no arguments. Throws a UserError if there is no Compose
 * file. The compiler has already rejected unknown services.
 */
export async function partOf(
  names: readonly string[],
  plan: Plan,
  { project, hasNoCompose, manifest }: CompiledProject,
  isAlone = false,
): Promise<Part | undefined> {
  if (names.length === 0) return undefined
  if (!project || hasNoCompose)
    throw new UserError(`service \`${names[0]}\` does not exist: \`${manifest?.shown}\` has no Compose file`, {
      hint: 'leave the names out: what commands deploy is deployed as a whole',
    })
  const [labels, { withDependencies, withMembers }] = await Promise.all([
    labelsOf(project),
    import('../../environment/plan/part.ts'),
  ])
  return {
    named: names,
    services: (isAlone ? withMembers : withDependencies)(
      plan,
      names.map(name => labels.get(name)!),
    ),
  }
}

/** Returns the services' names in the cluster, by their names in the files. */
export async function labelsOf(project: Project): Promise<ReadonlyMap<string, string>> {
  const { planNames } = await import('../../compiler/plan/names.ts')
  const names = planNames(project, {}, new Reporter())
  return new Map([...project.services.keys()].map(name => [name, names.of(name)]))
}

/** Returns the error for the name of an unknown service. */
export function noSuchService(name: string, known: Iterable<string>, where = ''): UserError {
  const names = [...new Set(known)].sort()
  const all = names.map(one => `\`${one}\``).join(', ')
  return new UserError(`service \`${name}\` does not exist${where}`, {
    hint: didYouMean(name, names) ?? (all ? `the services are ${all}` : 'there are no services'),
  })
}
