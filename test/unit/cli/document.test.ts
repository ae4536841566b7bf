import { join } from 'node:path'
import { test } from 'vitest'
import { commands } from '../../../cli/commands.ts'
import { commandsDocument } from '../../../cli/document.ts'
import { root } from '../../support/cases.ts'
import { run } from '../../support/run.ts'
import { expectFile } from '../../support/written-file.ts'

test('docs/cli.md is generated from the help of the commands', async () => {
  const help = new Map<string | undefined, string>()
  for (const name of [undefined, ...commands.map(command => command.name)]) {
    help.set(name, (await run(name === undefined ? ['help'] : ['help', ...name.split(' ')], { cwd: root })).stdout)
  }
  await expectFile(
    commandsDocument(commands, name => help.get(name)!),
    join(root, 'docs/cli.md'),
  )
})
