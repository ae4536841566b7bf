import { changeFile } from '../../adapters/files/locked-file.ts'
import { editYaml } from '../../adapters/files/yaml-edit.ts'
import type { YamlStep } from '../../adapters/files/yaml-path.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { KubeconfigNames } from './kubeconfig-names.ts'

/**
 * Makes a context the current one in the user's kubeconfig, for kubectl and similar tools, and sets its namespace.
 * Changes only these two values, and returns the changed files. Throws a UserError if the context does not exist or a
 * file cannot be written.
 */
export async function selectInKubeconfig(
  { currentPath, contexts }: KubeconfigNames,
  context: string,
  namespace: string,
): Promise<readonly string[]> {
  const holder = contexts.get(context)?.path
  if (holder === undefined) throw new UserError(`context \`${context}\` does not exist in the kubeconfig`)
  // The first file that names a current context wins, as for kubectl.
  const first = currentPath ?? holder
  await write(holder, ['contexts', { name: context }, 'context', 'namespace'], namespace)
  await write(first, ['current-context'], context)
  return [...new Set([holder, first])]
}

async function write(path: string, steps: readonly YamlStep[], value: string): Promise<void> {
  await changeFile(path, {
    shown: path,
    isPrivate: false,
    async edit(text) {
      const edited = await editYaml(text ?? '', { path: steps, value })
      if (edited.ok) return edited.text
      throw new UserError(`cannot set the current context in \`${path}\`: ${edited.problem}`, {
        hint: '`kubectl config use-context` may be able to',
      })
    },
  })
}
