import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { anchorOf, docsLink } from '../../../../../compiler/compose/keys/docs-link.ts'
import { composePages, differences } from '../../../../../compiler/compose/keys/document.ts'
import { tableRows } from '../../../../../compiler/compose/keys/lookup.ts'
import { root } from '../../../../support/cases.ts'
import { expectFile, isUpdating } from '../../../../support/written-file.ts'

describe('docs/compose.md and docs/compose', () => {
  const pages = composePages()
  const folder = join(root, 'docs/compose')

  test('the pages are generated from the table', async () => {
    for (const [path, text] of pages) await expectFile(text, join(root, 'docs', path))
  })

  test('docs/compose has no other pages', () => {
    const stale = readdirSync(folder).filter(name => !pages.has(`compose/${name}`))
    if (isUpdating()) for (const name of stale) rmSync(join(folder, name))
    else expect(stale).toEqual([])
  })

  test('every key has a section in the pages', () => {
    for (const { path } of tableRows()) {
      const [page = '', anchor] = docsLink(path).split('#')
      const text = pages.get(page.replace('docs/', ''))
      expect(text, path.join('.')).toBeDefined()
      const anchors = [...text!.matchAll(/^#+ (.+)$/gm)].map(([, title]) => anchorOf(title!))
      if (anchor !== undefined) expect(anchors, path.join('.')).toContain(anchor)
    }
  })
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
