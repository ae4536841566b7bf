import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../../support/cases.ts'
import { projectFiles } from '../../support/project-files.ts'

/** The folders and files whose text may name a test by its path. */
const NAMING = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'docs', 'test', 'scripts', 'vitest.config.ts']
/** Texts that look like a path and are none: codes of diagnostics in tests, and a placeholder. */
const OTHER = new Set(['test/sample', 'test/unknown', 'test/NAME', 'test/unit/adapters/forge/NAME.test.ts'])

const files = NAMING.flatMap(name =>
  /\.\w+$/.test(name)
    ? [name]
    : readdirSync(join(root, name), { recursive: true, encoding: 'utf8' }).map(path => join(name, path)),
)
  .filter(path => /\.(md|ts|tsx|mjs)$/.test(path) && path !== relative(root, import.meta.filename))
  // These scripts add tests to a copy of the project.
  .filter(path => !path.startsWith('test/support/recipes/'))
  .concat(projectFiles().filter(path => /^(?!(?:docs|examples|golden|test)\/).*\/(?:DESIGN|README)\.md$/.test(path)))

const exists = (path: string) => ['', '.ts', '.test.ts'].some(end => existsSync(join(root, path) + end))

test('every test that a file names by its path exists', () => {
  const missing = files.flatMap(file =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/(?<![\w./@-])test\/[\w./-]*\w/g)]
      .map(([path]) => path)
      .filter(path => !OTHER.has(path) && !exists(path))
      .map(path => `${file} names ${path}`),
  )
  expect(missing).toEqual([])
})
