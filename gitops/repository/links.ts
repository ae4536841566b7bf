import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { WorkingCopy } from './checkout.ts'

/**
 * Throws a UserError if a part of the path is a symbolic link, a submodule or a file. A link or submodule would lead to
 * a folder that does not belong to the application. `option` is the option for another folder, which the error
 * suggests. Reads the git tree, because links and submodules are not checked out.
 */
export async function refuseLinks({ git, head }: WorkingCopy, path: string, option = '--path'): Promise<void> {
  if (head === undefined || path === '.') return
  const parts = path.split('/')
  const way = parts.map((_, index) => parts.slice(0, index + 1).join('/'))
  const found = await git.run('ls-tree', '-z', head, '--', ...way)
  for (const line of found.split('\0').filter(line => line !== '')) {
    const [, mode, name] = /^(\d+) \S+ \S+\t(.*)$/s.exec(line) ?? []
    // If the list contains a longer path, git also lists the siblings of its parents.
    if (mode === '040000' || name === undefined || !way.includes(name)) continue
    const what = mode === '120000' ? 'a symbolic link' : mode === '160000' ? 'a submodule' : 'a file'
    throw new UserError(`\`${name}\` in the repository is ${what}, not a folder`, {
      hint: `move it away, or choose another folder with \`${option}\``,
    })
  }
}
