import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import type { Access } from '../../../../adapters/kubernetes/connection.ts'
import { fileEventsCross } from '../../../../develop/files/file-events.ts'
import { TEMPORARY } from '../../../../sync/stage/writer.ts'
import { makeFolder } from '../../../support/cli/folder.ts'

vi.mock('../../../../adapters/kubernetes/exec.ts', () => ({
  openExec: async (_: unknown, { command: [program, ...words] }: { readonly command: readonly string[] }) => {
    const child = spawn(program!, words)
    const exit = new Promise(resolve => child.once('exit', status => resolve(status ?? 1)))
    return { stdout: child.stdout, stderr: child.stderr, exit, destroy: () => void child.kill() }
  },
}))

const writing = vi.hoisted(() => ({ write: async () => 0 }))
vi.mock('../../../../develop/exec/run-once.ts', () => ({ runOnce: () => writing.write() }))

test.each([
  ['true if an event arrives, also over a slow connection', 2500, true, 0, true],
  ['false if no event arrives', 0, false, 0, false],
  ['undefined if nothing could be written', 0, false, 1, undefined],
])('fileEventsCross returns %s', async (_, wait, writes, status, expected) => {
  const path = makeFolder()
  writing.write = async () => {
    await sleep(wait)
    if (writes) writeFileSync(join(path, `${TEMPORARY}probe`), '')
    return status
  }
  const folder = { pod: 'api-1', namespace: 'shop', agent: { container: 'a', path }, own: { container: 'b', path } }
  expect(await fileEventsCross({} as Access, folder, new AbortController().signal)).toBe(expected)
})
