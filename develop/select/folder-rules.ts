import { posix } from 'node:path'
import { dockerPattern, dockerPatterns } from '../../compiler/values/images/ignore-file.ts'
import type { PathRule, PatternSet } from '../../sync/ignore/path-rules.ts'
import { type IgnoreSource, ignoreSource, NO_IGNORES } from '../../sync/scan/ignore-source.ts'
import { inside, type WatchPatterns } from '../files/watch-patterns.ts'
import type { ComposeFolder } from './compose-folders.ts'

/**
 * Returns the rules for paths of a Compose folder that are not synchronized: paths that its `.stignore` ignores
 * (without one, the default rules apply); paths where the container has its own content; and, for a folder of
 * `develop.watch`, paths that none of its rules covers. If the host volume is a single file (`file`), only this file is
 * synchronized, whatever an ignore file says. Throws the errors of reading the ignore file.
 */
export function folderRules({
  local,
  file,
  excluded,
  rules,
}: Pick<ComposeFolder, 'local' | 'file' | 'excluded' | 'rules'>): IgnoreSource {
  if (file !== undefined) return { ...NO_IGNORES, text: '', rules: [{ under: file, isFile: true, except: [] }] }
  return { ...ignoreSource(local, excluded), rules: rules.map(rule => pathRule(local, rule)) }
}

function pathRule(local: string, { path, isFolder, ignore, include, dockerIgnore }: WatchPatterns): PathRule {
  const under = inside(path, local) ?? ''
  const own = (patterns: readonly string[]): PatternSet => ({
    text: toIgnores(patterns.map(dockerPattern)),
    below: under,
    above: '',
  })
  const ofBuild = dockerIgnore && placeOf(dockerIgnore.folder, local)
  return {
    under,
    isFile: !isFolder,
    ...(include.length > 0 && { only: own(include) }),
    except: [
      ...(ignore.length > 0 ? [own(ignore)] : []),
      ...(ofBuild ? [{ ...ofBuild, text: toIgnores(dockerPatterns(dockerIgnore.text)) }] : []),
    ],
  }
}

/**
 * Returns the position of the patterns' folder `folder` relative to the sync folder `local`. `below` is the path of the
 * patterns' folder in the sync folder; `above` is the path of the sync folder in the patterns' folder. The path that
 * does not apply is empty. Returns undefined if neither folder contains the other.
 */
function placeOf(folder: string, local: string): Omit<PatternSet, 'text'> | undefined {
  if (folder === local) return { below: '', above: '' }
  const [below, above] = [inside(folder, local), inside(local, folder)]
  return below === undefined && above === undefined ? undefined : { below: below ?? '', above: above ?? '' }
}

/**
 * Converts the patterns of a `.dockerignore` into the syntax of `.stignore`, where the first match decides instead of
 * the last, a leading slash anchors a pattern to the folder, and `**` matches at least one folder.
 */
function toIgnores(patterns: readonly { readonly path: string; readonly takesBack: boolean }[]): string {
  return [...patterns]
    .reverse()
    .filter(({ path }) => path !== '' && path !== '.')
    .flatMap(({ path, takesBack }) => variants(path.split(posix.sep)).map(one => `${takesBack ? '!' : ''}${one}`))
    .join('\n')
}

/** Returns the variants of a pattern with and without the folders that `**` stands for. */
function variants(parts: readonly string[]): readonly string[] {
  const first = parts.findIndex(part => part !== '**')
  if (first < 0) return ['/**']
  const rest = parts.slice(first)
  const all = withoutFolders(rest).map(one => one.map(part => part.replaceAll(/[{}]/g, '\\$&')).join('/'))
  // Escape characters that have a special meaning at the beginning of a line.
  return all.map(one => (first > 0 ? one.replace(/^[#(!/]/, '\\$&') : `/${one}`))
}

function withoutFolders([part, ...rest]: readonly string[]): readonly (readonly string[])[] {
  if (part === undefined) return [[]]
  const ends = withoutFolders(rest)
  const all = ends.map(end => [part, ...end])
  return part === '**' && rest.length > 0 ? [...all, ...ends] : all
}
