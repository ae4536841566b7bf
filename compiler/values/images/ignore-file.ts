import { normalize } from 'node:path/posix'
import { type ExcludingPattern, excluder } from '../excluder.ts'
import { parseGlob } from '../glob.ts'

/**
 * A function that returns true if a path is ignored, false if a rule includes it again, and undefined if no rule
 * matches it. `path` is relative to the folder of the ignore file, without a trailing slash.
 */
export type Ignores = (path: string, isFolder: boolean) => boolean | undefined

/**
 * Parses a `.gitignore` (https://git-scm.com/docs/gitignore). The last matching rule decides. The caller has to skip
 * the content of an ignored folder.
 */
export function gitIgnore(text: string): Ignores {
  const rules = linesOf(text).flatMap(line => {
    const { body, takesBack } = negation(line.replace(/(?<!\\)\s+$/, '').replace(/^\\(?=[#!])/, ''), line)
    const path = body.replace(/\/$/, '')
    if (path === '') return []
    // A slash at the start or in the middle anchors the pattern to this folder.
    const tied = path.includes('/') ? path.replace(/^\//, '') : `**/${path}`
    // Two stars next to other characters count as one.
    const glob = tied.replace(/(?<![\\/]|^)\*{2,}|\*{2,}(?!$|\/)/g, '*')
    return [{ pattern: parseGlob(glob), takesBack, foldersOnly: body.endsWith('/') }]
  })
  return (path, isFolder) => {
    const rule = rules.findLast(({ pattern, foldersOnly }) => (isFolder || !foldersOnly) && pattern.test(path))
    return rule && !rule.takesBack
  }
}

/**
 * Returns a function that is true for paths that a `.dockerignore` excludes
 * (https://docs.docker.com/build/concepts/context/#syntax). Its patterns are anchored to the context, and apply to
 * everything inside a matching folder: see `excluder`.
 */
export function dockerIgnore(text: string): (path: string) => boolean {
  return excluder(dockerPatterns(text))
}

/** A pattern of a `.dockerignore`, with the path that it was parsed from. */
export interface DockerPattern extends ExcludingPattern {
  readonly path: string
}

/** Returns the patterns of a `.dockerignore`, in order. */
export const dockerPatterns = (text: string): readonly DockerPattern[] =>
  linesOf(text)
    .map(dockerPattern)
    .filter(({ path }) => path !== '' && path !== '.')

/**
 * Parses a pattern like BuildKit, which first cleans its path (https://pkg.go.dev/path#Clean): `./a/../b/` becomes `b`.
 */
export function dockerPattern(text: string): DockerPattern {
  const trimmed = text.trim()
  const takesBack = trimmed.startsWith('!')
  const path = normalize(takesBack ? trimmed.slice(1).trim() : trimmed).replace(/^\/+|\/+$/g, '')
  // Two stars before literal text match any path that ends in this text, also within a name.
  const withSuffix = path.replace(/^\*\*(?=[^/*?[\]\\][^*?[\]\\]*$)/, '**/*')
  return { path, takesBack, glob: parseGlob(withGoSets(withSuffix).replace(/\\(.)/g, escapeOf)) }
}

/** Escapes each `!` at the start of a character set, because Go negates a set only with `^`, unlike `parseGlob`. */
export const withGoSets = (pattern: string): string => pattern.replaceAll('[!', '[\\!')

/**
 * Replaces `\` before a letter or digit, which BuildKit treats as a regular expression escape (`\b`), with a character
 * that no path contains. Keeps other escapes.
 */
const escapeOf = (both: string, character: string) => (/[a-z\d]/i.test(character) ? '\0' : both)

/**
 * Returns the cost of the patterns in a text, as a number of patterns of usual length. Callers limit the cost, because
 * every path is tested against every pattern.
 */
export function countOfPatterns(text: string): number {
  return linesOf(text).reduce((sum, line) => sum + Math.ceil(line.length / USUAL_LENGTH), 0)
}

const USUAL_LENGTH = 100

const linesOf = (text: string): readonly string[] =>
  text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .filter(line => line.trim() !== '' && !line.startsWith('#'))

const negation = (body: string, line: string): { readonly body: string; readonly takesBack: boolean } =>
  line.startsWith('!') ? { body: body.slice(1), takesBack: true } : { body, takesBack: false }
