import { readlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path/posix'
import { readFile } from '../../adapters/files/read-file.ts'
import { statIfFound } from '../../adapters/files/stat-if-found.ts'
import type { SpendOnBuild } from '../../compiler/host.ts'
import { excluder } from '../../compiler/values/excluder.ts'
import { countOfPatterns, type DockerPattern, dockerPatterns } from '../../compiler/values/images/ignore-file.ts'

/** Functions that test if a path of a build context is ignored. */
export interface Ignored {
  readonly file: (path: string) => boolean
  /** Returns true if nothing below an ignored folder can be included again. */
  readonly wholeFolder: (path: string) => boolean
}

/**
 * Returns the rules of `<Dockerfile>.dockerignore`, or of the context's `.dockerignore` if that file does not exist:
 * https://docs.docker.com/build/concepts/context/#dockerignore-files. `.git` is excluded before these rules apply.
 */
export function ignoreRules(
  context: string,
  dockerfile: string | undefined,
  mayRead: (path: string) => boolean,
  spend: SpendOnBuild,
): Ignored {
  const read = (folder: string, name: string) => {
    const path = pathWithin(folder, name)
    if (path === undefined || !mayRead(path)) return undefined
    spend('context', statIfFound(path)?.size ?? 0)
    const file = readFile(path)
    return file.kind === 'file' ? new TextDecoder().decode(file.bytes) : undefined
  }
  const own = dockerfile && read(dirname(dockerfile), `${basename(dockerfile)}.dockerignore`)
  const text = own ?? read(context, '.dockerignore') ?? ''
  const rules = ['.git', '**/.git', text.replace(/^\ufeff/, '')].join('\n')
  spend('patterns', countOfPatterns(rules))
  const patterns = dockerPatterns(rules)
  const isIgnored = excluder(patterns)
  const takenBack = patterns.filter(({ takesBack }) => takesBack)
  return {
    file: path => {
      // Check the time limit for ignored files, too.
      spend('files', 0)
      return isIgnored(path)
    },
    wholeFolder: path => !takenBack.some(pattern => mayMatchBelow(pattern, path)),
  }
}

function mayMatchBelow({ path }: DockerPattern, folder: string): boolean {
  const fixed = path.split(/[*?[\\]/, 1)[0]!
  return `${path}/`.startsWith(`${folder}/`) || (fixed !== path && `${folder}/`.startsWith(fixed))
}

/** Maximum number of symbolic links to follow, as on Linux. */
const MOST_LINKS = 40

/**
 * Resolves the symbolic links of a path below a folder like BuildKit, which sees only that folder: an absolute target
 * starts at the folder, and `..` cannot leave it. Returns undefined for a cycle of links.
 */
export function pathWithin(folder: string, path: string): string | undefined {
  const found: string[] = []
  const rest = path.split('/')
  for (let links = 0; rest.length > 0; ) {
    const part = rest.shift()!
    if (part === '..') found.pop()
    if (part === '' || part === '.' || part === '..') continue
    const target = targetOf(join(folder, ...found, part))
    if (target === undefined) found.push(part)
    else {
      if (++links > MOST_LINKS) return undefined
      if (target.startsWith('/')) found.length = 0
      rest.unshift(...target.split('/'))
    }
  }
  return join(folder, ...found)
}

function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path).replaceAll('\\', '/')
  } catch {
    return undefined
  }
}
