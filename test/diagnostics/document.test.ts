import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { catalogue, type DiagnosticKind } from '../../compiler/diagnostics/diagnostic.ts'
import { diagnosticsDocument } from '../../compiler/diagnostics/document.ts'
import { root } from '../cases.ts'
import '../../compiler/index.ts'

const kinds: readonly DiagnosticKind<never>[] = [...catalogue.values()]

/** The golden case that shows a code: of those that report it, the one that reports least else. */
function examples(): ReadonlyMap<string, string> {
  const found = new Map<string, { folder: string; size: number }>()
  const folder = join(root, 'golden/compose')
  for (const name of existsSync(folder) ? readdirSync(folder).sort() : []) {
    const file = join(folder, name, 'diagnostics.txt')
    if (!existsSync(file)) continue
    const codes = [...readFileSync(file, 'utf8').matchAll(/^(?:error|warning|info)\[(.*?)\]/gm)].map(match => match[1]!)
    for (const code of codes) {
      if (codes.length < (found.get(code)?.size ?? Number.POSITIVE_INFINITY)) {
        found.set(code, { folder: `golden/compose/${name}`, size: codes.length })
      }
    }
  }
  return new Map([...found].map(([code, { folder }]) => [code, folder]))
}

describe('docs/diagnostics.md', () => {
  test('is made from the catalogue', async () => {
    await expect(diagnosticsDocument(kinds, examples())).toMatchFileSnapshot(join(root, 'docs/diagnostics.md'))
  })

  test('has every code that the source declares', () => {
    const declared = sources().flatMap(path =>
      [...readFileSync(path, 'utf8').matchAll(/\bdiagnostic(?:<[^(]*>)?\(\{\s*code: '(.*?)'/g)].map(match => match[1]!),
    )
    expect(declared.length).toBeGreaterThan(0)
    expect(declared.filter(code => !catalogue.has(code))).toEqual([])
  })
})

describe.each(kinds.map(kind => [kind.code, kind] as const))('the page of %s', (code, kind) => {
  test('is written as all are', () => {
    expect(code).toMatch(/^[a-z][a-z0-9-]*\/[a-z][a-z0-9-]*$/)
    expect(kind.explain.trim().length).toBeGreaterThan(30)
    expect(kind.explain).not.toMatch(/^#/m)
    expect(kind.explain.trim()).toMatch(/[.:?`]$/)
    expect(kind.loss && kind.severity !== 'warning').toBeFalsy()
  })
})

function sources(): readonly string[] {
  return ['compiler', 'cli'].flatMap(folder => walk(join(root, folder)))
}

function walk(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name.endsWith('.ts'))
    .map(entry => join(entry.parentPath, entry.name))
}
