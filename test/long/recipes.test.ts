import { afterAll, beforeAll, expect, test } from 'vitest'
import { Copy, follow } from '../support/recipe.ts'
import { RECIPES } from '../support/recipes.ts'

// Follows the recipes of CONTRIBUTING.md in one copy of the project. The recipe of a key is tested in
// test/programs/recipes.

/** Tests that the recipes name. */
const TESTS = [
  'test/unit/adapters',
  'test/unit/architecture.test.ts',
  'test/unit/cli',
  'test/unit/compiler',
  'test/unit/constructs',
  'test/unit/docs',
  'test/unit/examples.test.ts',
  'test/unit/golden.test.ts',
  'test/unit/project/contexts',
  'test/unit/gitops',
]
const vitest = (...words: readonly string[]) => copy.node('node_modules/vitest/vitest.mjs', 'run', ...words)

const copy = new Copy()
beforeAll(async () => {
  await copy.fill()
  for (const recipe of Object.values(RECIPES)) follow(copy.folder, recipe)
  await copy.add()
})
afterAll(() => copy.remove())

test('vitest -u writes the generated files of all recipes', async () => {
  // The validators of a schema are built before their importers, and the program before the tests that start it.
  await vitest('--project', 'unit', 'test/unit/adapters/json', '-u')
  await copy.node('scripts/build.mjs')
  await vitest('--project', 'unit', ...TESTS, '-u')
  await copy.add()
  await vitest('--project', 'catalogue', '-u')
  expect(copy.read('docs/diagnostics.md')).toContain('## scale/many')
  expect(copy.read('docs/cli.md')).toContain('### devctl count')
  const expected = 'golden/compose/workloads/many-pods-have-a-disruption-budget/expected'
  expect(copy.read(`${expected}/poddisruptionbudget-web.yaml`)).toContain('minAvailable: 1999')
})

test('the written files pass Biome and do not change any more', async () => {
  await copy.node('node_modules/@biomejs/biome/bin/biome', 'check', '.')
  await copy.add()
  await vitest(
    '--project',
    'unit',
    '--project',
    'catalogue',
    'test/unit/golden.test.ts',
    'test/unit/compiler/diagnostics',
  )
})
