/** A path pattern with `/` between folders, but not at its ends. */
export interface Glob {
  /** Returns true if the pattern matches the full path. */
  readonly test: (path: string) => boolean
  /** Returns true if the pattern matches a path or one of its parent folders. */
  readonly holds: (path: string) => boolean
}

/**
 * Parses a pattern with `*`, `?`, `[…]` and `**`. `**` matches any number of folders or, at the end, everything that
 * follows. A character set that is not closed, or that has a reversed range, is literal.
 *
 * The matcher reads each character of a path once, whatever the pattern. As a regular expression, a pattern with a few
 * stars can take hours.
 */
export function parseGlob(pattern: string): Glob {
  const automaton = lazily(stepsOf(pattern))
  const run = (path: string, alsoFolders: boolean): boolean => {
    let state = automaton.start()
    for (let at = 0; at < path.length; at++) {
      const code = path.codePointAt(at)!
      if (code > 0xffff) at++
      if (alsoFolders && code === SLASH && state.accepts) return true
      state = state.next.get(code) ?? automaton.follow(state, code)
      if (state.steps.length === 0) return false
    }
    return state.accepts
  }
  return { test: path => run(path, false), holds: path => run(path, true) }
}

const SLASH = 0x2f

type Step =
  /** Matches a single character. */
  | { readonly kind: 'one'; readonly takes: (code: number) => boolean }
  /** Matches any characters except a slash. */
  | { readonly kind: 'star' }
  /** Matches any number of folders, each with its slash. */
  | { readonly kind: 'folders' }
  /** Matches everything that follows. */
  | { readonly kind: 'rest' }

const notSlash = (code: number) => code !== SLASH
const only = (code: number): Step => ({ kind: 'one', takes: other => other === code })

function stepsOf(pattern: string): readonly Step[] {
  const steps: Step[] = []
  for (let at = 0; at < pattern.length; ) {
    const { step, length } = stepAt(pattern, at)
    // Two stars in a row match the same as one.
    if (step.kind === 'one' || steps.at(-1)?.kind !== step.kind) steps.push(step)
    at += length
  }
  return steps
}

function stepAt(pattern: string, at: number): { readonly step: Step; readonly length: number } {
  const code = pattern.codePointAt(at)!
  const length = code > 0xffff ? 2 : 1
  switch (pattern[at]) {
    case '*':
      return starsAt(pattern, at)
    case '?':
      return { step: { kind: 'one', takes: notSlash }, length }
    case '[': {
      const set = SET.exec(pattern.slice(at, at + LONGEST_SET))
      const takes = set && takesOf(set[2]!, set[1] !== '')
      return takes ? { step: { kind: 'one', takes }, length: set[0].length } : { step: only(code), length }
    }
    case '\\': {
      const escaped = pattern.codePointAt(at + 1)
      return escaped === undefined
        ? { step: only(code), length }
        : { step: only(escaped), length: escaped > 0xffff ? 3 : 2 }
    }
    default:
      return { step: only(code), length }
  }
}

function starsAt(pattern: string, at: number): { readonly step: Step; readonly length: number } {
  if (pattern[at + 1] !== '*') return { step: { kind: 'star' }, length: 1 }
  const length = pattern[at + 2] === '/' ? 3 : 2
  return { step: { kind: at + length >= pattern.length ? 'rest' : 'folders' }, length }
}

const SET = /^\[([!^]?)((?:\\.|[^\]\\])+)\]/su
const LONGEST_SET = 1_000

/** Returns the predicate of a character set, given the text in its brackets; undefined if a range is reversed. */
function takesOf(text: string, isInverted: boolean): ((code: number) => boolean) | undefined {
  const ranges: (readonly [number, number])[] = []
  const ends = [...text.matchAll(/\\(.)|(.)/gsu)].map(([, escaped, plain]) => ({
    code: (escaped ?? plain!).codePointAt(0)!,
    isDash: plain === '-',
  }))
  for (let at = 0; at < ends.length; at++) {
    const from = ends[at]!.code
    const isRange = ends[at + 1]?.isDash && at + 2 < ends.length
    const to = isRange ? ends[at + 2]!.code : from
    if (to < from) return undefined
    ranges.push([from, to])
    if (isRange) at += 2
  }
  return code => code !== SLASH && ranges.some(([from, to]) => code >= from && code <= to) !== isInverted
}

/** A state of the automaton: all positions in the pattern that the characters read so far can reach. */
interface State {
  /**
   * Positions in the pattern. `2 * index` is before the step at `index`; `2 * index + 1` is inside the folders that
   * this step matches.
   */
  readonly steps: readonly number[]
  readonly accepts: boolean
  readonly next: Map<number, State>
}

/** Maximum total number of positions in the cached states; without a limit, the states might not fit into memory. */
const MOST_PLACES = 4_096

/** Returns a lazy automaton for a pattern, which creates a state when a path first reaches it. */
function lazily(steps: readonly Step[]) {
  const known = new Map<string, State>()
  let places = 0
  const stateOf = (found: ReadonlySet<number>): State => {
    const sorted = [...found].sort((a, b) => a - b)
    const key = sorted.join()
    const same = known.get(key)
    if (same) return same
    if (places > MOST_PLACES) {
      for (const state of known.values()) state.next.clear()
      known.clear()
      places = 0
    }
    const state = { steps: sorted, accepts: found.has(2 * steps.length), next: new Map() }
    known.set(key, state)
    places += sorted.length + 1
    return state
  }
  const enter = (found: Set<number>, place: number) => {
    for (let at = place; !found.has(at); at += 2) {
      found.add(at)
      const kind = steps[at >> 1]?.kind
      if (kind === undefined || kind === 'one') return
      if (kind === 'folders') found.add(at + 1)
    }
  }
  const start = () => {
    const found = new Set<number>()
    enter(found, 0)
    return stateOf(found)
  }
  let first: State | undefined
  return {
    start: () => (first ??= start()),
    follow(state: State, code: number): State {
      const found = new Set<number>()
      for (const place of state.steps) {
        const step = steps[place >> 1]
        if (step?.kind === 'one') {
          if (step.takes(code)) enter(found, place + 2)
        } else if (step?.kind === 'star') {
          if (code !== SLASH) enter(found, place)
        } else if (step?.kind === 'rest') enter(found, place)
        else if (step?.kind === 'folders' && place % 2 === 1) {
          found.add(place)
          if (code === SLASH) enter(found, place + 1)
        }
      }
      const next = stateOf(found)
      state.next.set(code, next)
      return next
    },
  }
}
