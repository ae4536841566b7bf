import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { isMap, type Pair, parseDocument, visit } from 'yaml'
import { type Case, exampleCases, goldenCases } from '../cases.ts'
import { copyCase, run } from '../run.ts'

// The same input gives the same bytes: whatever the order of keys, the folder that devctl runs in, and the environment of the process.
// `PROPERTY_RUNS=50 npx vitest run test/properties/determinism` tries more orders.
const runs = Number(process.env.PROPERTY_RUNS ?? 2)
const seed = Number(process.env.PROPERTY_SEED ?? 1)

const work = mkdtempSync(join(tmpdir(), 'devctl-shuffled-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))

// The file itself may be part of what a build reads, and so of the tag of its image.
const rendered = async ({ command, args, env, stdin }: Case, cwd: string): Promise<string> =>
  (await run([command, '--tag', '1', ...args], { cwd, env, stdin })).stdout

describe('keys in another order make the same manifests', () => {
  for (const one of [...exampleCases(), ...goldenCases()].filter(isShuffled)) {
    test(one.name, { timeout: 60_000 }, async () => {
      const text = readFileSync(join(one.directory, 'compose.yaml'), 'utf8')
      // The name of the folder may be that of the project.
      const folder = join(work, one.name.replaceAll('/', '-'), basename(one.directory))
      // What a host path holds is what git tracks.
      copyCase({ ...one, checkout: one.checkout ?? (text.includes('volumes') ? {} : false) }, folder)
      const expected = await rendered(one, folder)
      await fc.assert(
        fc.asyncProperty(fc.infiniteStream(fc.nat()), async numbers => {
          writeFileSync(join(folder, 'compose.yaml'), shuffled(text, numbers))
          expect(await rendered(one, folder)).toBe(expected)
        }),
        { numRuns: runs, seed },
      )
    })
  }
})

describe('neither the folder nor the environment of the process change a byte', () => {
  const changes: Readonly<Record<string, string>> = {
    TZ: 'Pacific/Kiritimati',
    LANG: 'tr_TR.UTF-8',
    LC_ALL: 'tr_TR.UTF-8',
    CDK8S_DISABLE_SORT: '1',
    CDK8S_LEGACY_HASH: '1',
    CDK8S_OUTDIR: '/nowhere',
    CDK8S_RECORD_CONSTRUCT_METADATA: 'true',
    KUBECONFIG: '/nowhere',
  }
  for (const one of exampleCases()) {
    test(one.name, async () => {
      const expected = await rendered(one, one.directory)
      const before = { ...process.env }
      Object.assign(process.env, changes)
      try {
        expect(await rendered(one, one.directory), 'variables').toBe(expected)
      } finally {
        for (const name of Object.keys(changes)) {
          if (before[name] === undefined) delete process.env[name]
          else process.env[name] = before[name]
        }
      }
      // Paths in COMPOSE_FILE begin in the folder that devctl runs in, as in Compose.
      const variables = join(one.directory, '.env')
      if (existsSync(variables) && readFileSync(variables, 'utf8').includes('COMPOSE_FILE=')) return
      const elsewhere = { ...one, args: [...one.args, '--project-directory', one.directory] }
      expect(await rendered(elsewhere, dirname(one.directory)), 'from the folder above').toBe(expected)
      expect(await rendered(elsewhere, work), 'from afar').toBe(expected)
    })
  }
})

/** Cases that make manifests of compose.yaml alone, whose keys may stand in any order: an alias must follow its anchor. */
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

/** The text with the keys of all its mappings in another order, everything else as it is written. */
function shuffled(text: string, numbers: fc.Stream<number>): string {
  // Without types every scalar stays as it is written: `0440` would come back as 440.
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
