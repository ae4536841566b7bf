import { expect, test } from 'vitest'
import { composeDocument, differences } from '../../compiler/compose/keys/document.ts'
import { tableRows } from '../../compiler/compose/keys/lookup.ts'

test('docs/compose.md is what the table says', async () => {
  await expect(composeDocument()).toMatchFileSnapshot('../../docs/compose.md')
})

test('every row says something', () => {
  for (const { path, row } of tableRows()) {
    const place = path.join('.')
    if (row.fate === 'mapped' || row.fate === 'cli') expect(row.becomes, place).not.toBe('')
    if (row.fate === 'none' || row.fate === 'approximated') expect(row.note, place).toBeTruthy()
    if (row.fate === 'refused') expect(row.loss?.severity ?? 'error', place).toBe('error')
    if (row.loss) expect(row.loss.why.endsWith('.'), place).toBe(true)
    if (row.loss?.hint) expect(row.loss.hint.endsWith('.'), place).toBe(false)
  }
})

test('no difference is told twice', () => {
  expect(new Set(differences.map(({ topic }) => topic)).size).toBe(differences.length)
})
