import { join } from 'node:path'
import { expect, test } from 'vitest'
import { composeDocument, differences } from '../../../../../compiler/compose/keys/document.ts'
import { tableRows } from '../../../../../compiler/compose/keys/lookup.ts'
import { root } from '../../../../support/cases.ts'
import { expectFile } from '../../../../support/written-file.ts'

test('docs/compose.md is generated from the table', async () => {
  await expectFile(composeDocument(), join(root, 'docs/compose.md'))
})

test('every row has a description', () => {
  for (const { path, row } of tableRows()) {
    const place = path.join('.')
    if (row.fate === 'mapped' || row.fate === 'cli') expect(row.becomes, place).not.toBe('')
    if (row.fate === 'none' || row.fate === 'approximated') expect(row.note, place).toBeTruthy()
    if (row.fate === 'refused') expect(row.loss?.severity ?? 'error', place).toBe('error')
    if (row.loss) expect(row.loss.why.endsWith('.'), place).toBe(true)
    if (row.loss?.hint) expect(row.loss.hint.endsWith('.'), place).toBe(false)
  }
})

test('every difference is listed once', () => {
  expect(new Set(differences.map(({ topic }) => topic)).size).toBe(differences.length)
})
