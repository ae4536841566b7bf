import { join } from 'node:path'
import { test } from 'vitest'
import { commands } from '../../../cli/commands.ts'
import { commandsDocument } from '../../../cli/document.ts'
import { root } from '../../support/cases.ts'
import { expectFile } from '../../support/written-file.ts'

test('docs/cli.md is generated from the help of the commands', async () => {
  await expectFile(commandsDocument(commands), join(root, 'docs/cli.md'))
})
