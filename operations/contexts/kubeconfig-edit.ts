import { changeFile } from '../../adapters/files/locked-file.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { KubeconfigNames } from './kubeconfig-names.ts'
import { setValue, type YamlStep } from './yaml-edit.ts'

/**
 * Makes a context the current one of the user's kubeconfig, with this namespace, for kubectl and its like. Writes these two values only.
 * Gives the files that hold them. Throws a UserError when one cannot be written.
 */
export async function selectInKubeconfig(
  { currentPath, contexts }: KubeconfigNames,
  context: string,
  namespace: string,
): Promise<readonly string[]> {
  const holder = contexts.get(context)?.path
  if (holder === undefined) throw new UserError(`there is no context \`${context}\` in the kubeconfig`)
  // The first file that names a current context wins, as for kubectl.
  const first = currentPath ?? holder
  await write(holder, ['contexts', { name: context }, 'context'], 'namespace', namespace)
  await write(first, [], 'current-context', context)
  return [...new Set([holder, first])]
}

async function write(path: string, steps: readonly YamlStep[], key: string, value: string): Promise<void> {
  await changeFile(path, {
    shown: path,
    isPrivate: false,
    async edit(text) {
      const edited = await setValue(text ?? '', steps, key, value)
      if (edited !== undefined) return edited
      throw new UserError(`cannot set \`${key}\` in \`${path}\``, {
        hint: 'it is written in an unusual way; `kubectl config` can do it',
      })
    },
  })
}
