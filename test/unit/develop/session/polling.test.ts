import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { execTarget } from '../../../../develop/exec/run-command.ts'
import { Polling } from '../../../../develop/session/polling.ts'
import { shellCommand } from '../../../../develop/ssh/container.ts'

test('polling applies to commands and shells, also to those of the next session', () => {
  const home = mkdtempSync(join(tmpdir(), 'devctl-polling-'))
  onTestFinished(() => rmSync(home, { recursive: true }))
  const folder = join(home, 'api')
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'box' } }
  const run = () => Promise.reject(new Error('nothing is run'))
  const words = () => {
    const polling = new Polling(folder)
    const command = { container: 'main', namespace: 'shop', command: ['npm', 'start'], polling }
    return [
      execTarget(command, pod, { size: undefined, type: undefined }).command,
      shellCommand({ tool: 'b', variables: () => polling.variables, run }, 'id', [], undefined),
    ]
  }
  const polls = () => words().map(command => command.includes('CHOKIDAR_USEPOLLING=1'))
  expect(polls()).toEqual([false, false])
  new Polling(folder).set(true)
  expect(polls()).toEqual([true, true])
  new Polling(folder).set(false)
  expect(polls()).toEqual([false, false])
})
