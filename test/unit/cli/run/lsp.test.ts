import { expect, test } from 'vitest'
import { root } from '../../../support/cases.ts'
import { run } from '../../../support/run.ts'

test('lsp at a terminal says that an editor starts it', async () => {
  const { status, stdout, stderr } = await run(['lsp'], { cwd: root })
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
  expect(stderr).toBe(
    'error: `devctl lsp` is started by an editor, which writes to its standard input\n  = help: docs/editors.md has the settings of editors\n',
  )
})
