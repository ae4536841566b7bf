import type { IgnoreRules } from '../../../sync/ignore/ignore.ts'
import { Random } from '../../support/differential/random.ts'

const NAMES = ['a', 'b', 'ab', 'abc', 'B', 'b.txt', 'a-b', '.x', '{a}', 'a b']

/** Files at three depths whose names differ in what patterns look at, in the order that Syncthing has them. */
export const PATHS: readonly string[] = [
  ...NAMES.map(name => `${name}.f`),
  ...NAMES.flatMap(folder => ['a', 'b.txt', 'ABC'].map(name => `${folder}/${name}.f`)),
  ...NAMES.flatMap(folder => ['a', 'b.txt'].flatMap(inner => ['x', 'abc'].map(name => `${folder}/${inner}/${name}.f`))),
].sort()

/**
 * The files that are synchronized, found as a walker finds them: an ignored folder is read only if the rules say so.
 */
export function filesOf(rules: IgnoreRules): readonly string[] {
  return PATHS.filter(path => {
    const parts = path.split('/')
    const folders = parts.slice(0, -1).map((_, at) => parts.slice(0, at + 1).join('/'))
    return folders.every(one => !rules.ignores(one, true) || rules.mayHoldIncluded(one)) && !rules.ignores(path, false)
  })
}

/** An ignore file, and the files that it includes. */
export function generateIgnores(seed: number): {
  readonly lines: readonly string[]
  readonly included: Readonly<Record<string, string>>
} {
  const random = new Random(seed)
  const lines = random.list(1, 5, () => line(random))
  if (!random.chance(0.1)) return { lines, included: {} }
  const included = { 'more.ignores': random.list(1, 2, () => line(random)).join('\n') }
  return { lines: [...lines, '#include more.ignores', line(random)], included }
}

function line(random: Random): string {
  if (random.chance(0.05)) return random.pick(['', '// a comment', '  b  ', '!*', '*', '**', '/'])
  const prefixes = [random.chance(0.3) && '!', random.chance(0.15) && '(?i)', random.chance(0.1) && '(?d)'].filter(
    Boolean,
  )
  if (random.chance(0.5)) prefixes.reverse()
  const start = random.pick(['', '', '', '/', '/', '**/', '*/'])
  const end = random.pick(['', '', '', '/', '/**', '/*'])
  return prefixes.join('') + start + random.list(1, 3, () => part(random)).join('/') + end
}

const LITERALS = [...NAMES.filter(name => !name.includes('{')), 'a.f', '.f', 'x', 'tx', '\\{a\\}', ',']

/**
 * `*`, `?` and classes are not put between braces: Syncthing's library for patterns (github.com/gobwas/glob) then often
 * says what its documentation does not, as for `{*,*b}`, `?{b,?}` or `***`, and for characters beyond ASCII, or panics.
 */
function part(random: Random): string {
  const pieces = random.list(1, 3, () => piece(random))
  return pieces.join('').replaceAll(/\*{3,}/g, '**')
}

function piece(random: Random): string {
  const kind = random.int(0, 13)
  if (kind < 6) return random.pick(LITERALS)
  if (kind < 8) return '*'
  if (kind === 8) return '?'
  if (kind === 9) return '**'
  if (kind < 12) return random.pick(['[ab]', '[a-c]', '[!a-c]', '[!.]', '[-b]', '[ab-]', '[\\]a]'])
  return `{${random.list(2, 3, () => random.pick(LITERALS.filter(one => one !== ','))).join()}}`
}
