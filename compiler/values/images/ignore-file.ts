import { normalize } from 'node:path/posix'
import { type ExcludingPattern, excluder } from '../excluder.ts'
import { parseGlob } from '../glob.ts'

/**
 * Says whether a path is left out, or undefined when no rule is about it. `path` is relative to the
 * folder of the ignore file, without a slash at its end.
 */
export type Ignores = (path: string, isFolder: boolean) => boolean | undefined

/**
 * The rules of a `.gitignore` (https://git-scm.com/docs/gitignore). The last rule that matches
 * decides; what lies in an ignored folder is for the caller to leave out with it.
 */
export function gitIgnore(text: string): Ignores {
  const rules = linesOf(text).flatMap(line => {
    const { body, takesBack } = negation(line.replace(/(?<!\\)\s+$/, '').replace(/^\\(?=[#!])/, ''), line)
    const path = body.replace(/\/$/, '')
    if (path === '') return []
    // A slash at the beginning or in the middle ties the pattern to this folder.
    const tied = path.includes('/') ? path.replace(/^\//, '') : `**/${path}`
    // Two stars beside other characters are one.
    const glob = tied.replace(/(?<![\\/]|^)\*{2,}|\*{2,}(?!$|\/)/g, '*')
    return [{ pattern: parseGlob(glob), takesBack, foldersOnly: body.endsWith('/') }]
  })
  return (path, isFolder) => {
    const rule = rules.findLast(({ pattern, foldersOnly }) => (isFolder || !foldersOnly) && pattern.test(path))
    return rule && !rule.takesBack
  }
}

/**
 * Says whether a `.dockerignore` leaves a path out
 * (https://docs.docker.com/build/concepts/context/#syntax). Its patterns are tied to the context, and
 * hold for all that is in what they match: see `excluder`.
 */
export function dockerIgnore(text: string): (path: string) => boolean {
  return excluder(dockerPatterns(text))
}

/** A pattern of a `.dockerignore`, with the path that it was made of. */
export interface DockerPattern extends ExcludingPattern {
  readonly path: string
}

/** The patterns of a `.dockerignore`, in its order. */
export const dockerPatterns = (text: string): readonly DockerPattern[] =>
  linesOf(text)
    .map(dockerPattern)
    .filter(({ path }) => path !== '' && path !== '.')

/**
 * Reads a pattern as BuildKit does, which cleans its path (https://pkg.go.dev/path#Clean) before
 * anything else: `./a/../b/` is `b`.
 */
export function dockerPattern(text: string): DockerPattern {
  const trimmed = text.trim()
  const takesBack = trimmed.startsWith('!')
  const path = normalize(takesBack ? trimmed.slice(1).trim() : trimmed).replace(/^\/+|\/+$/g, '')
  return { path, takesBack, glob: parseGlob(path.replace(/\\(.)/g, escapeOf)) }
}

/**
 * Replaces `\` and a letter or digit, which BuildKit takes for an escape of a regular expression (`\b`), by a character
 * that no path has; keeps other escapes.
 */
const escapeOf = (both: string, character: string) => (/[a-z\d]/i.test(character) ? '\0' : both)

/** Every path is held against each rule: how many of usual length a text counts for. */
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
