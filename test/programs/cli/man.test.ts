import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commands } from '../../../cli/commands.ts'
import { manPages } from '../../../cli/help/man-pages.ts'
import { makeFolder } from '../../support/cli/folder.ts'

test('`man --warnings` prints every page without a warning', () => {
  const folder = makeFolder()
  const env = { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8', MANWIDTH: '100' }
  for (const [name, text] of manPages(commands, '1.2.3')) {
    writeFileSync(join(folder, name), text)
    const { status, stdout, stderr } = spawnSync('man', ['--warnings', '-l', join(folder, name)], { env })
    expect({ name, status, stderr: stderr.toString() }).toEqual({ name, status: 0, stderr: '' })
    expect(stdout.toString()).toContain('SYNOPSIS')
  }
})
