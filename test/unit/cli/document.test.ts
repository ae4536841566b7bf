import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commands } from '../../../cli/commands.ts'
import { commandsPages } from '../../../cli/document.ts'
import { root } from '../../support/cases.ts'
import { expectFile, isUpdating } from '../../support/written-file.ts'

describe('docs/cli', () => {
  const pages = commandsPages(commands)
  const folder = join(root, 'docs/cli')

  test('the pages are generated from the help of the commands', async () => {
    for (const [path, text] of pages) await expectFile(text, join(root, 'docs', path))
  })

  test('docs/cli has no other pages', () => {
    const stale = readdirSync(folder).filter(name => !pages.has(`cli/${name}`))
    if (isUpdating()) for (const name of stale) rmSync(join(folder, name))
    else expect(stale).toEqual([])
  })
})
