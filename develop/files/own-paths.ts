import { lstatSync, readlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, parse, relative, resolve, sep } from 'node:path'
import { realPath } from '../../adapters/files/real-path.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { possibleHomes, type Surroundings, userHome } from '../../project/contexts/home.ts'

/** Maximum number of chained symbolic links. */
const LINKS = 40

/**
 * Returns the paths in a folder that are never synchronized, because they belong to devctl, such as the keys of
 * sessions and the SSH configuration, or are symbolic links to such paths. `folder` must have its links resolved.
 */
export function ownPathsIn(folder: string, world: Surroundings): readonly string[] {
  return pathsIn(folder, ownPlaces(world))
}

/**
 * Selects the absolute paths that are in a folder. Returns them relative to the folder, without duplicates and with `/`
 * as separator.
 */
export function pathsIn(folder: string, paths: readonly string[]): readonly string[] {
  const places = [...new Set(paths)].filter(place => isBelow(place, folder))
  return places.map(place => relative(folder, place).replaceAll(sep, '/'))
}

/**
 * Throws a UserError for a folder that contains more than a project: the root folder, the user's home or a parent of
 * it, or devctl's own folder. `folder` has its links resolved, `written` is its path for the message.
 */
export function checkProjectFolder(folder: string, written: string, place: readonly string[], world: Surroundings) {
  const user = [userHome(world.env), homedir()].map(path => realPath(path) ?? path)
  const what =
    folder === parse(folder).root
      ? 'is the root folder'
      : user.includes(folder)
        ? 'is your home folder'
        : user.some(home => isBelow(home, folder))
          ? 'holds your home folder'
          : ownPlaces(world).some(own => own === folder || isBelow(folder, own))
            ? 'is the folder of devctl'
            : undefined
  if (what === undefined) return
  throw new UserError(`\`${written}\` ${what} and is not synchronized`, {
    notes: place,
    hint: 'name the folder of the project: the container can read and change all of it',
  })
}

/** Returns the folders in which devctl stores its files, for this process and for processes without DEVCTL_HOME. */
const ownPlaces = (world: Surroundings): readonly string[] =>
  [...possibleHomes(world), ...possibleHomes({ ...world, env: { ...world.env, DEVCTL_HOME: undefined } })].flatMap(
    home => [...placesOf(home, LINKS), ...[realPath(home)].filter(place => place !== undefined)],
  )

/** Yields each symbolic link on a path, and finally the real path, which need not exist. */
function* placesOf(path: string, links: number): Generator<string> {
  const { root } = parse(path)
  let at = root
  const names = path.slice(root.length).split(sep)
  for (const [index, name] of names.entries()) {
    at = join(at, name)
    const target = linkAt(at)
    if (target === undefined) continue
    yield at
    if (links > 0) yield* placesOf(resolve(dirname(at), target, ...names.slice(index + 1)), links - 1)
    return
  }
  yield at
}

function linkAt(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined
  } catch {
    return undefined
  }
}

const isBelow = (path: string, folder: string): boolean =>
  path !== folder && path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`)
