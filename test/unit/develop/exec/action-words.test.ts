import { execFileSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { WatchExec } from '../../../../compiler/compose/project.ts'
import { execWords } from '../../../../develop/exec/action-words.ts'
import { makeFolder } from '../../../support/cli/folder.ts'
import { at, span } from '../../../support/plan/project.ts'

/** Runs the command with the programs of this machine in place of busybox, and returns its output. */
function output(exec: Partial<WatchExec>): string {
  const folder = makeFolder({ busybox: '#!/bin/sh\nexec "$@"\n' })
  const tool = join(folder, 'busybox')
  chmodSync(tool, 0o755)
  const words = { words: ['sh', '-c', 'echo "$(pwd) $A $1"', 'x', 'a  $HOME'], span }
  const [program, ...args] = execWords({ span, command: words, privileged: false, environment: [], ...exec }, tool)
  return execFileSync(program!, args, { cwd: folder, env: { PATH: process.env['PATH'] } })
    .toString()
    .replaceAll(folder, 'HERE')
}

test('execWords runs the command in its folder, with its variables and its exact words', () => {
  expect(output({})).toBe('HERE  a  $HOME\n')
  expect(output({ workingDir: at('/usr') })).toBe('/usr  a  $HOME\n')
  const environment = [{ name: 'A', value: "it's $1", span }]
  expect(output({ environment })).toBe("HERE it's $1 a  $HOME\n")
  expect(output({ environment, workingDir: at('/usr') })).toBe("/usr it's $1 a  $HOME\n")
})
