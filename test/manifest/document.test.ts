import { expect, test } from 'vitest'
import { tableRows } from '../../compiler/compose/keys/lookup.ts'
import { manifestDocument } from '../../compiler/manifest/document.ts'
import { manifestShape } from '../../compiler/manifest/shape.ts'

test('docs/manifest.md is what the table says', async () => {
  await expect(manifestDocument()).toMatchFileSnapshot('../../docs/manifest.md')
})

test('every key says what it means', () => {
  for (const { path, row } of tableRows(manifestShape)) expect(row.becomes, path.join('.')).not.toBe('')
})
