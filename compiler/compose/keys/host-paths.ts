import { isAbsolute, join } from 'node:path/posix'
import type { PathBase, ResolvePath } from '../../schema/load-rules.ts'
import { get, isMap, type ScalarTree, type Tree, withEntry } from '../../text/tree.ts'
import { isNoPath } from '../../values/images/build-context.ts'

const WINDOWS_ABSOLUTE = /^(?:[A-Za-z]:[\\/]|\\\\)/

/**
 * Returns an absolute path: expands `~` to the home folder, and resolves a relative path against the folder in `base`.
 * An empty path stays empty.
 */
export function absolutePath(path: string, base: PathBase): string {
  const expanded = expandHome(path, base)
  if (expanded === '' || isAbsolute(expanded)) return expanded
  return join(base.directory, expanded).replace(/(.)\/$/, '$1')
}

function expandHome(path: string, base: PathBase): string {
  const home = base.host.homeDirectory
  return path.startsWith('~') && home !== undefined ? join(home, path.slice(1)).replace(/(.)\/$/, '$1') : path
}

const onText =
  (change: (path: string, base: PathBase) => string): ResolvePath =>
  (tree, base) => {
    if (tree.kind !== 'scalar' || tree.type !== 'string') return tree
    const path = change(tree.value as string, base)
    return path === tree.value ? tree : ({ ...tree, value: path } satisfies ScalarTree)
  }

/** Resolves the path of a host file or folder. */
export const file = onText(absolutePath)
/** Resolves a host path. Absolute Windows paths stay unchanged; an empty path is the project folder. */
export const host = onText((path, base) =>
  WINDOWS_ABSOLUTE.test(path) ? path : path === '' ? base.directory : absolutePath(path, base),
)
/** Resolves a build context; URLs stay unchanged. */
export const context = onText((path, base) => (isNoPath(path) ? path : absolutePath(path, base)))
/** Resolves a watched path and its symbolic links. */
export const linked = onText((path, base) => base.host.realPath(absolutePath(path, base)))

/** Resolves the source of a bind mount. */
export const mount: ResolvePath = (tree, base) => {
  const type = get(tree, 'type')
  const source = get(tree, 'source')
  if (!isMap(tree) || !source || type?.kind !== 'scalar' || type.value !== 'bind') return tree
  return withEntry(tree, 'source', host(source, base))
}

/** Resolves the `device` option of a local volume with `o: bind`. */
export const device: ResolvePath = (tree, base) => {
  const options = get(tree, 'driver_opts')
  const device = get(options, 'device')
  const is = (value: Tree | undefined, text: string) => value?.kind === 'scalar' && value.value === text
  if (!isMap(tree) || !isMap(options) || !device || !is(get(tree, 'driver'), 'local') || !is(get(options, 'o'), 'bind'))
    return tree
  return withEntry(tree, 'driver_opts', withEntry(options, 'device', host(device, base)))
}
