import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import '../compiler/index.ts'
import { catalogue } from '../compiler/diagnostics/diagnostic.ts'
import { goldenCases, root } from './cases.ts'

/** Codes that no golden case can show, and why. */
const unseen: Readonly<Record<string, string>> = {}

const shown = new Set(
  goldenCases().flatMap(({ directory }) => {
    if (!readdirSync(directory).includes('diagnostics.txt')) return []
    const text = readFileSync(join(directory, 'diagnostics.txt'), 'utf8')
    return [...text.matchAll(/^(?:error|warning|info)\[([^\]]+)\]/gm)].map(match => match[1]!)
  }),
)

test('every diagnostic is shown by a golden case', () => {
  const missing = [...catalogue.keys()].filter(code => !shown.has(code) && !(code in unseen))
  expect(missing.sort()).toEqual([])
})

test('the list of diagnostics that cannot be shown is not longer than it must be', () => {
  expect(Object.keys(unseen).filter(code => shown.has(code) || !catalogue.has(code))).toEqual([])
})

test('every diagnostic has a page', () => {
  const pages = readFileSync(join(root, 'docs/diagnostics.md'), 'utf8')
  for (const { code, explain } of catalogue.values()) {
    expect(code).toMatch(/^[a-z][a-z-]*\/[a-z][a-z0-9-]*$/)
    expect(explain.length, code).toBeGreaterThan(60)
    expect(pages, 'docs/diagnostics.md').toContain(code)
  }
})
