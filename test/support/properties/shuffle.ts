import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import fc from 'fast-check'
import { expect } from 'vitest'
import { isMap, type Pair, parseDocument, visit } from 'yaml'
import { type Case, exampleCases, goldenCases } from '../cases.ts'
import { copyCase, run } from '../run.ts'

// Equal input gives the same bytes, whatever the order of keys.

/**
 * Returns the output of a case that is rendered in a folder. The Compose file itself may be part of the input of a
 * build, and so of the tag of its image.
 */
export const rendered = async ({ command, args, env, stdin }: Case, cwd: string): Promise<string> =>
  (await run([command, '--tag', '1', ...args], { cwd, env, stdin })).stdout

/** The cases whose keys may stand in any order, each with a number of its own. */
export function shuffledCases(): readonly (readonly [name: string, one: Case, index: number])[] {
  return [...exampleCases(), ...goldenCases()].filter(isShuffled).map((one, index) => [one.name, one, index])
}

const OF_EVERY_CASE = ['compose.yaml', 'options.yml', 'diagnostics.txt', 'expected']

interface Orders {
  readonly runs: number
  readonly seed: number
  /** The output of the unchanged case, if the caller has it. */
  readonly stdout?: string
}

/** Renders a case with its keys in other orders, and fails where that makes a difference. */
export async function expectNoDifference(one: Case, { runs, seed, stdout }: Orders): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'devctl-shuffled-'))
  try {
    const text = readFileSync(join(one.directory, 'compose.yaml'), 'utf8')
    // The name of the folder may be that of the project.
    const folder = join(work, basename(one.directory))
    // A host path contains the files that git tracks; without a file to mount, no checkout is needed.
    const mounts = text.includes('volumes') && readdirSync(one.directory).some(name => !OF_EVERY_CASE.includes(name))
    copyCase({ ...one, checkout: one.checkout ?? (mounts ? {} : false) }, folder)
    // Images that are built have another tag here.
    const isKnown = stdout !== undefined && !text.includes('build') && !mounts
    const expected = isKnown ? stdout : await rendered(one, folder)
    await fc.assert(
      fc.asyncProperty(fc.infiniteStream(fc.nat()), async numbers => {
        writeFileSync(join(folder, 'compose.yaml'), shuffled(text, numbers))
        expect(await rendered(one, folder)).toBe(expected)
      }),
      { numRuns: runs, seed },
    )
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/**
 * Cases that make manifests of compose.yaml alone, whose keys may stand in any order: an alias must follow its anchor.
 */
function isShuffled(one: Case): boolean {
  if (one.command !== 'render' || one.stdin !== '' || one.args.includes('-f') || one.env.COMPOSE_FILE !== undefined)
    return false
  if (!existsSync(join(one.directory, 'compose.yaml'))) return false
  const text = readFileSync(join(one.directory, 'compose.yaml'), 'utf8')
  if (/^---|^%/m.test(text) || text.includes('\0')) return false
  const document = parseDocument(text)
  let aliases = 0
  visit(document, {
    Alias: () => {
      aliases++
    },
  })
  return aliases === 0 && document.errors.length === 0 && isMap(document.contents)
}

/** Returns the text with the keys of all its mappings in another order, and everything else unchanged. */
function shuffled(text: string, numbers: fc.Stream<number>): string {
  // Every scalar would keep its spelling without types: `0440` would otherwise become 440.
  const document = parseDocument(text, { schema: 'failsafe' })
  visit(document, {
    Map: (_, map) => {
      if (isMap(map)) map.items = shuffle(map.items as Pair[], numbers)
    },
  })
  return document.toString({ lineWidth: 0 })
}

function shuffle<T>(items: readonly T[], numbers: fc.Stream<number>): T[] {
  const found = [...items]
  for (let last = found.length - 1; last > 0; last--) {
    const { value } = numbers.next()
    const other = (value as number) % (last + 1)
    ;[found[last], found[other]] = [found[other]!, found[last]!]
  }
  return found
}
