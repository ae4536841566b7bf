import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { resolveLinks } from '../../adapters/files/real-path.ts'
import { normalizeProjectName } from '../../compiler/values/project-name.ts'

/**
 * Returns the default name of an environment: the name of the repository that contains the project's folder, otherwise
 * the name of the folder. Normalizes it as Compose normalizes folder names: `my.app` becomes `myapp`.
 */
export function fallbackName(folder: string): string {
  const name = repositoryName(folder) ?? basename(folder)
  return normalizeProjectName(name) || name
}

/**
 * Returns the folder whose Compose files devctl uses if the user names none: the given folder or its nearest parent
 * with a Compose file. Returns undefined if there is no such folder.
 */
export function nearestProject(folder: string): string | undefined {
  return nearest(folder, at => composeFileIn(at) !== undefined)
}

const COMPOSE_FILES = ['compose.yaml', 'compose.yml', 'docker-compose.yml', 'docker-compose.yaml']
const OKTETO_FILES = ['okteto-stack.yml', 'okteto-stack.yaml', 'okteto-compose.yml', 'okteto-compose.yaml']

/**
 * Returns the Compose file with a default name in a folder, or in its `.devctl`, as a relative path; undefined if none
 * exists.
 */
export function composeFileIn(folder: string): string | undefined {
  const paths = ['', '.devctl'].flatMap(inside => [...COMPOSE_FILES, ...OKTETO_FILES].map(name => join(inside, name)))
  return paths.find(path => existsSync(join(folder, path)))
}

/**
 * Returns the Compose files with default names that devctl reads in a folder: `composeFileIn`, and the override files
 * next to it.
 */
export function composeFilesIn(folder: string): readonly string[] {
  const base = composeFileIn(folder)
  return base === undefined ? [] : [base, ...overridesOf(base).filter(path => existsSync(join(folder, path)))]
}

/**
 * Returns the paths of the override files that devctl reads beside a Compose file with a default name, if they exist.
 */
export const overridesOf = (base: string): readonly string[] =>
  COMPOSE_FILES.map(name => join(dirname(base), name.replace(/\.ya?ml$/, '.override$&')))

/**
 * Returns the name of the Git repository that a folder is in: the last part of the address of its remote (`origin`,
 * otherwise the first one), otherwise the name of its top folder. Returns undefined outside a repository. Reads Git's
 * files without starting a process.
 */
export function repositoryName(folder: string): string | undefined {
  const repository = repositoryOf(folder)
  return repository && (repository.address?.split(/[/\\:]/).at(-1) || basename(repository.top))
}

/**
 * Returns the Git repository that a folder is in: its top folder, and the address of its remote without credentials and
 * `.git`. Reads Git's files.
 */
export function repositoryOf(
  folder: string,
): { readonly top: string; readonly address: string | undefined } | undefined {
  const top = nearest(folder, at => existsSync(join(at, '.git')))
  if (top === undefined) return undefined
  const config = readText(join(gitFolder(top), 'config'))
  return { top, address: config && addressOfRemote(config) }
}

/**
 * Returns the repository that contains the files of a folder. Also tries the path with resolved links, because the
 * folder may be a link to a subfolder of the repository.
 */
export const sourceRepository = (folder: string): ReturnType<typeof repositoryOf> =>
  repositoryOf(folder) ?? repositoryOf(resolveLinks(folder))

function nearest(folder: string, isIt: (folder: string) => boolean): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    if (isIt(at)) return at
    if (at === dirname(at)) return undefined
  }
}

/**
 * Returns the folder with the repository's configuration, usually `.git`. In a submodule, and in a working tree added
 * by `git worktree`, `.git` is instead a file that contains the path of this folder.
 */
function gitFolder(top: string): string {
  const own = join(top, '.git')
  const pointer = /^gitdir: (.+)$/m.exec(readText(own) ?? '')?.[1]
  if (pointer === undefined) return own
  const folder = resolve(top, pointer.trim())
  const common = readText(join(folder, 'commondir'))
  return common === undefined ? folder : resolve(folder, common.trim())
}

function addressOfRemote(config: string): string | undefined {
  let section: string | undefined
  const addresses = new Map<string, string>()
  for (const line of config.split(/\r?\n/)) {
    const header = /^\s*\[\s*([^\]]*?)\s*\]/.exec(line)
    if (header) section = /^remote\s+"(.*)"$/i.exec(header[1]!)?.[1]
    const address = /^\s*url\s*=\s*"?(.*?)"?\s*$/i.exec(line)?.[1]
    if (section !== undefined && address && !addresses.has(section)) addresses.set(section, address)
  }
  const address = addresses.get('origin') ?? addresses.values().next().value
  return (
    address
      ?.replace(/^([a-z+]+:\/\/)[^/?#]*@/i, '$1')
      // Some users put a token into the query.
      .replace(/(?<=:\/\/.*)[?#].*/, '')
      .replace(/[/\\]+$/, '')
      .replace(/\.git$/, '')
  )
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
