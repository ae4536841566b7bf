import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { root } from '../support/cases.ts'
import { Copy, follow } from '../support/recipe.ts'
import { RECIPES } from '../support/recipes.ts'

// Follows the recipes of CONTRIBUTING.md in one copy of the project. The recipe of a key is tested in
// test/programs/recipes.

/** Tests of the documents. The test of the recipes needs a project in which none has been followed. */
const OF_DOCUMENTS = readdirSync(join(root, 'test/unit/docs'))
  .filter(name => name.endsWith('.test.ts') && name !== 'recipes.test.ts')
  .map(name => `test/unit/docs/${name}`)

/** Tests that the recipes name. */
const TESTS = [
  'test/unit/adapters',
  'test/unit/architecture.test.ts',
  'test/unit/cli',
  'test/unit/comments.test.ts',
  'test/unit/compiler',
  'test/unit/constructs',
  ...OF_DOCUMENTS,
  'test/unit/examples.test.ts',
  'test/unit/golden.test.ts',
  'test/unit/platform',
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
  // Other tests read the cases that this one writes.
  await vitest('--project', 'unit', 'test/unit/golden.test.ts', '-u')
  await copy.add()
  await vitest('--project', 'unit', ...TESTS, '-u')
  await copy.add()
  await vitest('--project', 'catalogue', '-u')
  expect(copy.read('docs/diagnostics/scale.md')).toContain('## scale/many')
  expect(copy.read('docs/cli/count.md')).toContain('## devctl count')
  expect(copy.read('docs/cli/platform.md')).toContain('--contact <address>')
  expect(copy.read('golden/platform/openapi.json')).toContain('"contact"')
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
