import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { eventArrives, watcher } from '../../../../develop/files/file-events.ts'
import { TEMPORARY } from '../../../../sync/stage/writer.ts'
import { makeFolder } from '../../../support/cli/folder.ts'

test.each([
  ['true if an event arrives, also over a slow connection', 2500, true, 0, true],
  ['false if no event arrives', 0, false, 0, false],
  ['undefined if nothing could be written', 0, false, 1, undefined],
])('eventArrives returns %s', async (_, wait, writes, status, expected) => {
  const path = makeFolder()
  const write = async () => {
    await sleep(wait)
    if (writes) writeFileSync(join(path, `${TEMPORARY}probe`), '')
    return status
  }
  const [program, ...words] = watcher(path)
  const child = spawn(program, words)
  const exit = new Promise<number>(resolve => child.once('exit', code => resolve(code ?? 1)))
  try {
    expect(await eventArrives({ ...child, exit }, write, new AbortController().signal)).toBe(expected)
  } finally {
    child.kill()
  }
})
