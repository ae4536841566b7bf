import { existsSync, readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { goldenCases, root } from '../support/cases.ts'
import { documentsOf } from '../support/documents.ts'
import { partOf } from '../support/part-of-cases.ts'
import { expectNoDifference, shuffledCases } from '../support/properties/shuffle.ts'
import { type Result, runCase } from '../support/run.ts'
import { abbreviateLabels, expandLabels } from '../support/standard-labels.ts'
import { expectFile, isUpdating } from '../support/written-file.ts'

// Each folder of golden/compose/FAMILY is a rule: what `render` prints for its files is in expected/, what it says in
// diagnostics.txt. `npx vitest run test/unit/golden.test.ts -u` writes them anew; read the difference before you keep
// it.

/** The results by the names of the cases; each case runs once for several checks. */
const results = new Map<string, Result>()

describe('golden', () => {
  test('cases are in the folder of a family, each under a name of its own', () => {
    const golden = join(root, 'golden/compose')
    const loose = readdirSync(golden).flatMap(family =>
      readdirSync(join(golden, family), { withFileTypes: true }).filter(entry => !entry.isDirectory()),
    )
    expect(loose.map(({ parentPath, name }) => join(parentPath, name))).toEqual([])
    const names = goldenCases().map(({ directory }) => basename(directory))
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  })

  for (const one of goldenCases()) {
    test(one.name, async () => {
      const result = await runCase(one)
      results.set(one.name, result)
      const { status, stderr } = result
      // `config` prints absolute paths, as its model has them; nothing else may.
      const stdout = one.command === 'config' ? result.stdout.replaceAll(root, '/checkout') : result.stdout
      expect(stdout + stderr, 'paths of this machine').not.toContain(root)

      const failed = /^error\[/m.test(stderr)
      expect(status, stderr).toBe(one.status ?? (failed ? 1 : 0))
      if (failed) expect(stdout, 'output beside errors').toBe('')

      const produced = new Map<string, string>()
      if (one.command === 'render') {
        for (const { file, text } of documentsOf(stdout)) {
          expect(produced.has(file), `${file} twice`).toBe(false)
          produced.set(file, text)
        }
      } else if (stdout !== '') produced.set(`${one.command}.txt`, stdout)

      for (const [file, text] of produced) {
        const abbreviated = one.command === 'render' ? abbreviateLabels(text) : text
        if (one.command === 'render') expect(expandLabels(abbreviated), 'abbreviated and written out again').toBe(text)
        await expectFile(abbreviated, join(one.directory, 'expected', file))
      }
      removeOrRefuse(one.directory, 'expected', [...produced.keys()])

      // Every run prints the line that counts objects, also without diagnostics.
      const said = /^(error|warning|info)\[/m.test(stderr)
      if (said) await expectFile(stderr, join(one.directory, 'diagnostics.txt'))
      else if (existsSync(join(one.directory, 'diagnostics.txt')))
        removeOrRefuse(
          one.directory,
          '.',
          readdirSync(one.directory).filter(name => name !== 'diagnostics.txt'),
        )
    })
  }
})

const { cases: shuffled, title } = partOf(shuffledCases(), 6)

// Each case is tried in one order; `npm run test:long` tries more orders.
describe(`cases with keys in another order: ${title}`, () => {
  test.each(shuffled)('%s renders the same manifests', { timeout: 60_000 }, (name, one, index) => {
    const stdout = results.get(name)?.stdout
    return expectNoDifference(one, { runs: 1, seed: index + 1, ...(stdout !== undefined && { stdout }) })
  })
})

/**
 * Deletes files that nothing produced while snapshots are updated, and reports them otherwise. (File snapshots are
 * written when the run ends, so that only extra files can be detected.)
 */
function removeOrRefuse(directory: string, folder: string, produced: readonly string[]): void {
  const path = join(directory, folder)
  if (!existsSync(path)) return
  const stale = readdirSync(path).filter(name => !produced.includes(name))
  if (isUpdating()) for (const name of stale) rmSync(join(path, name))
  else expect(stale, `files of ${folder} that are not produced`).toEqual([])
}
