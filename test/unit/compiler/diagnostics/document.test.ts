import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { catalogue } from '../../../../compiler/diagnostics/diagnostic.ts'
import { diagnosticsPages, type ExplainedCode } from '../../../../compiler/diagnostics/document.ts'
import { explainedRefusals } from '../../../../platform/rules/refusal-pages.ts'
import { goldenCases, root } from '../../../support/cases.ts'
import { manifestCases } from '../../../support/manifest/cases.ts'
import { expectFile, isUpdating } from '../../../support/written-file.ts'
import '../../../../compiler/compose/build-spec.ts'
import '../../../../compiler/index.ts'
import '../../../../compiler/manifest/automatic.ts'
import '../../../../compiler/manifest/build-spec.ts'
import '../../../../compiler/manifest/read.ts'
import '../../../../commands/command-diagnostics.ts'
import '../../../../init/migrate/notes.ts'
import '../../../../environment/status/failures.ts'
import '../../../../compiler/manifest/not-published.ts'
import '../../../../compiler/manifest/okteto-builds.ts'
import '../../../../builds/plan/official-names.ts'
import '../../../../builds/plan/same-images.ts'
import '../../../../builds/plan/planned-builds.ts'
import '../../../../builds/failures/not-built.ts'
import '../../../../builds/confirm-images.ts'
import '../../../../builds/failures/failed-step.ts'
import '../../../../builds/builder/ssh-keys.ts'

const kinds: readonly ExplainedCode[] = [...catalogue.values(), ...explainedRefusals()]

/** Chooses the golden case that shows each code: one that reports few other codes, and is named after it. */
function examples(): ReadonlyMap<string, string> {
  const found = new Map<string, { folder: string; rank: readonly number[] }>()
  for (const { directory } of [...goldenCases(), ...manifestCases()]) {
    const file = join(directory, 'diagnostics.txt')
    if (!existsSync(file)) continue
    const codes = [...readFileSync(file, 'utf8').matchAll(/^(?:error|warning|info)\[(.*?)\]/gm)].map(match => match[1]!)
    for (const code of new Set(codes)) {
      const rank = [new Set(codes).size, -wordsInCommon(code, basename(directory)), codes.length]
      const best = found.get(code)?.rank
      if (!best || isBefore(rank, best)) found.set(code, { folder: relative(root, directory), rank })
    }
  }
  return new Map([...found].map(([code, { folder }]) => [code, folder]))
}

/**
 * Words of a code that begin like one of a case's name: `healthcheck/image-check` and
 * `a-healthcheck-of-the-image-is-ignored`.
 */
function wordsInCommon(code: string, name: string): number {
  const words = name.split('-')
  const begins = (word: string) => words.some(other => other.startsWith(word.slice(0, Math.max(4, word.length - 2))))
  return code.split(/[/-]/).filter(begins).length
}

function isBefore(a: readonly number[], b: readonly number[]): boolean {
  const at = a.findIndex((value, index) => value !== b[index])
  return at >= 0 && a[at]! < b[at]!
}

describe('docs/diagnostics.md', () => {
  const pages = diagnosticsPages(kinds, examples())
  const folder = join(root, 'docs/diagnostics')

  test('the pages are generated from the catalogue', async () => {
    for (const [path, text] of pages) await expectFile(text, join(root, 'docs', path))
  })

  test('docs/diagnostics has no other pages', () => {
    const stale = readdirSync(folder).filter(name => !pages.has(`diagnostics/${name}`))
    if (isUpdating()) for (const name of stale) rmSync(join(folder, name))
    else expect(stale).toEqual([])
  })

  test('no page has more than 400 lines', () => {
    for (const [path, text] of pages) expect(text.split('\n').length, path).toBeLessThanOrEqual(400)
  })

  test('the catalogue has every code that the source declares', () => {
    const declared = sources().flatMap(path =>
      [...readFileSync(path, 'utf8').matchAll(/\bdiagnostic(?:<[^(]*>)?\(\{\s*code: '(.*?)'/g)].map(match => match[1]!),
    )
    expect(declared.length).toBeGreaterThan(0)
    expect(declared.filter(code => !catalogue.has(code))).toEqual([])
  })
})

describe.each(kinds.map(kind => [kind.code, kind] as const))('the page of %s', (code, kind) => {
  test('the page follows the rules of all pages', () => {
    expect(code).toMatch(/^[a-z][a-z0-9-]*\/[a-z][a-z0-9-]*$/)
    expect(kind.explain.trim().length).toBeGreaterThan(30)
    expect(kind.explain).not.toMatch(/^#/m)
    expect(kind.explain.trim()).toMatch(/[.:?`]$/)
    expect(kind.loss && kind.severity !== 'warning').toBeFalsy()
  })
})

/** Folders that import the compiler: diagnostics may be declared in all of them. */
const FOLDERS = [
  'adapters',
  'builds',
  'cli',
  'compiler',
  'develop',
  'environment',
  'gitops',
  'init',
  'operations',
  'project',
]

function sources(): readonly string[] {
  return FOLDERS.flatMap(folder => walk(join(root, folder)))
}

function walk(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name.endsWith('.ts'))
    .map(entry => join(entry.parentPath, entry.name))
}
