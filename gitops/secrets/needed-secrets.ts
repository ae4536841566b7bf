import { ASSUMED } from '../../compiler/compose/load/assumed-values.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { sourcedValues } from '../../compiler/plan/secrets/secret-sources.ts'
import { get, type Tree } from '../../compiler/text/tree.ts'
import { compileFiles } from '../../project/compile-files.ts'
import { compileWithoutValues } from '../../project/compile-without-values.ts'
import type { LoadInput } from '../../project/input.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { Workspace } from '../../project/workspace.ts'

/** A key of a Secret that the application reads, and that no object published by devctl contains. */
export interface NeededKey {
  readonly secret: string
  readonly key: string
  /** Paths of the settings that read the key. */
  readonly usedBy: readonly string[]
  /** Value of the key according to the files and variables of this machine; absent if they have no value. */
  readonly value?: Uint8Array
}

type Input = LoadInput & { readonly name?: string | undefined; readonly namespace?: string | undefined }

/**
 * Returns the keys that must exist in the namespace in addition to those that `publish` writes, with the values that
 * are known on this machine; empty if the files have errors. Throws a UserError for a key with two different values.
 */
export async function neededKeys(
  workspace: Workspace,
  options: Input,
  project: OpenProject,
): Promise<readonly NeededKey[]> {
  const { name, namespace } = options
  const { plan } = await compileWithoutValues(workspace, options, { name, namespace }, { project, forRepository: true })
  if (!plan || plan.requiredSecrets.length === 0) return []
  const values = await knownValues(workspace, options, project)
  const found = new Map<string, NeededKey>()
  for (const { secret, key, usedBy } of plan.requiredSecrets) {
    const before = found.get(`${secret}/${key}`)
    const value = values.get(usedBy)
    if (before?.value && value && Buffer.compare(before.value, value) !== 0)
      throw new UserError(
        `\`${before.usedBy[0]}\` and \`${usedBy}\` differ in their values, and both are \`${key}\` of the Secret \`${secret}\``,
        { hint: 'give one of them another key' },
      )
    const known = before?.value ?? value
    const users = [...(before?.usedBy ?? []), usedBy]
    found.set(`${secret}/${key}`, { secret, key, usedBy: users, ...(known && { value: known }) })
  }
  return [...found.values()]
}

/**
 * Returns the values that this machine's files and variables contain for secret settings, by the path of the setting.
 * Omits missing values without an error.
 */
async function knownValues(
  workspace: Workspace,
  options: Input,
  project: OpenProject,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const rules = project.environment?.secrets
  if (!rules) return new Map()
  // All values are read only for a backend that encrypts them.
  const secretRules = { ...rules, backend: 'sops' as const }
  const { name, namespace } = options
  const extra = { project, secretRules, assumesRequired: 'expressions' as const }
  const { project: read } = await compileFiles(workspace, [], options, { name, namespace }, extra)
  if (!read) return new Map()
  const known = sourcedValues({ project: read, options: { secretRules } })
  return new Map(
    known.flatMap(({ path, value }) => (value?.length && !isAssumed(read.tree, path) ? [[path, value] as const] : [])),
  )
}

/** True if the value at a path is only assumed, because it contains a variable that is not set. */
function isAssumed(tree: Tree, path: string): boolean {
  const [, service = '', name = ''] = /^services\.(.+)\.environment\.(.+)$/.exec(path) ?? []
  const value = get(tree, 'services', service, 'environment', name)
  return value?.kind === 'scalar' && Boolean(value.variables?.some(({ origin }) => origin === ASSUMED))
}
