import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { isPlatform } from '../../project/contexts/store.ts'
import type { Target } from '../../project/contexts/target.ts'
import type { CommonEvent } from '../../project/events.ts'
import type { LoadInput } from '../../project/input.ts'
import { openProject } from '../../project/open-project.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { Workspace } from '../../project/workspace.ts'
import { variableNameProblem } from '../rules/variable-names.ts'
import { fetchEffective } from './effective.ts'
import { imagesOf } from './with-images.ts'

export interface VariablesContext<W extends Workspace> {
  readonly workspace: W
  /** Project that was opened to determine the target of the deploy. */
  readonly project: OpenProject
  readonly signal: AbortSignal
  readonly on: (event: CommonEvent) => void
}

/** Workspace with the variables and the registry of the platform, and the project opened with it. */
export interface WithVariables<W extends Workspace> {
  readonly workspace: W
  readonly project: OpenProject
}

/**
 * Fetches the variables that the platform provides for deploys in the target's namespace; none if the target is not a
 * platform. Variables of the shell and of `.env` take precedence, and all fetched variables are secret. Throws a
 * UserError if the platform does not answer, rejects the request or cannot read a variable, because a deploy with other
 * values would differ from the intended one.
 */
export async function withPlatformVariables<W extends Workspace>(
  { workspace, project, signal, on }: VariablesContext<W>,
  loading: LoadInput,
  { context, namespace, stored }: Pick<Target, 'context' | 'namespace' | 'stored'>,
): Promise<WithVariables<W>> {
  if (!isPlatform(context)) return { workspace, project }
  const { variables, unreadable, images } = await fetchEffective({ context, namespace, stored }, workspace, signal)
  // Variables of the shell take precedence.
  const lost = unreadable.filter(({ name }) => workspace.env[name] === undefined)
  if (lost.length > 0) throw unreadableVariables(lost)
  const { good, refused } = accepted(variables)
  const ofImages = imagesOf(images, { context, namespace, stored }, workspace, signal)
  for (const text of refused) on({ type: 'warning', text })
  const forViewers = { ...workspace, ...ofImages, hasViewers: true as const }
  if (good.size === 0) return { workspace: forViewers, project }
  workspace.secrets?.add(good.values())
  const own = { ...forViewers, platformVariables: good }
  return { workspace: own, project: project.manifest ? await openProject(own, loading) : project }
}

function unreadableVariables(all: readonly { readonly name: string; readonly scope: string }[]): UserError {
  const commands = all.map(({ name, scope }) => {
    const option = scope === 'user' || scope === 'admin' ? ` --${scope}` : ''
    return `\`devctl variables set${option} ${name}\``
  })
  return new UserError(
    `the platform cannot read the value of ${all.map(({ name }) => `\`${name}\``).join(', ')} any more`,
    {
      notes: [
        'without it, something else would be deployed',
        'the key that has sealed it may be missing: its operator knows',
      ],
      hint: `set it again: ${commands.join(', ')}`,
    },
  )
}

/**
 * Returns the variables of the platform that are safe to use, and messages about the rejected ones. The platform
 * already rejects invalid names. They are checked again, because a compromised platform could send a variable whose
 * name makes this machine execute code.
 */
export function accepted(
  variables: readonly { readonly name: string; readonly value: string; readonly scope: string }[],
): { readonly good: ReadonlyMap<string, string>; readonly refused: readonly string[] } {
  const good = new Map<string, string>()
  const refused: string[] = []
  for (const { name, value, scope } of variables) {
    const problem = variableNameProblem(name) ?? (value.includes('\0') ? 'its value has a zero byte' : undefined)
    if (problem === undefined) good.set(name, value)
    else refused.push(`the variable \`${name}\` of the platform (${scope}) is not used: ${problem}`)
  }
  return { good, refused }
}
