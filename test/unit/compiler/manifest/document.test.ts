import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tableRows } from '../../../../compiler/compose/keys/lookup.ts'
import { manifestDocument } from '../../../../compiler/manifest/document.ts'
import { manifestShape } from '../../../../compiler/manifest/shape.ts'
import { root } from '../../../support/cases.ts'
import { expectFile } from '../../../support/written-file.ts'

test('docs/manifest.md is generated from the table', async () => {
  await expectFile(manifestDocument(), join(root, 'docs/manifest.md'))
})

test('every key has a description', () => {
  for (const { path, row } of tableRows(manifestShape)) expect(row.becomes, path.join('.')).not.toBe('')
})
