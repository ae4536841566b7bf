import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { KINDS } from '../../constructs/kinds.ts'

const golden = join(import.meta.dirname, '../../golden/compose')

test('every kind that the golden cases have is in the table, and every kind of the table is in a golden case', () => {
  const made = new Set<string>()
  for (const path of readdirSync(golden, { recursive: true, encoding: 'utf8' })) {
    if (!path.includes('/expected/') || !path.endsWith('.yaml')) continue
    const text = readFileSync(join(golden, path), 'utf8')
    for (const [, apiVersion, kind] of text.matchAll(/^apiVersion: (\S+)\nkind: (\S+)$/gm))
      made.add(`${apiVersion} ${kind}`)
  }
  expect([...made].sort()).toEqual(KINDS.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`).sort())
})
