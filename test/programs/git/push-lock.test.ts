import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { takePushLock } from '../../../adapters/git/push-lock.ts'
import { makeFolder } from '../../support/cli/folder.ts'

const never = new AbortController().signal
const branch = 'https://git.example.com/deploy.git main'

const fileIn = (folder: string) => join(folder, readdirSync(folder).find(name => name.startsWith('devctl-turn-'))!)

/** Creates a folder in which another process holds the lock. */
async function heldBy(owner: string): Promise<{ readonly env: { readonly TMPDIR: string }; readonly file: string }> {
  const env = { TMPDIR: makeFolder() }
  const lock = await takePushLock(env, branch, never)
  const file = fileIn(env.TMPDIR)
  lock.end()
  writeFileSync(file, owner)
  return { env, file }
}

test('takePushLock waits for an earlier owner of the same branch and reports it', async () => {
  const env = { TMPDIR: makeFolder() }
  const first = await takePushLock(env, branch, never)
  expect(first.hasWaited).toBe(false)
  let isSecond = false
  const second = takePushLock(env, branch, never).then(lock => {
    isSecond = true
    return lock
  })
  const other = await takePushLock(env, `${branch}-2`, never)
  expect({ isSecond, hasWaited: other.hasWaited }).toEqual({ isSecond: false, hasWaited: false })
  first.end()
  expect((await second).hasWaited).toBe(true)
  ;(await second).end()
  other.end()
  expect(readdirSync(env.TMPDIR)).toEqual([])
})

test('takePushLock does not wait for an owner whose process has ended', async () => {
  const { pid } = spawnSync(process.execPath, ['-e', ''])
  const { env, file } = await heldBy(`${pid} 1\nx\n`)
  const lock = await takePushLock(env, branch, never)
  lock.end()
  expect(existsSync(file)).toBe(false)
})

test('takePushLock does not wait for a process id that another process reuses', async () => {
  const { env } = await heldBy(`${process.pid} 1\nx\n`)
  if (process.platform === 'linux') (await takePushLock(env, branch, never)).end()
})

test('takePushLock waits for a slow owner up to a limit and keeps its lock', async () => {
  const env = { TMPDIR: makeFolder() }
  const first = await takePushLock(env, branch, never)
  const second = await takePushLock(env, branch, never, 50)
  expect(second.hasWaited).toBe(true)
  second.end()
  expect(existsSync(fileIn(env.TMPDIR))).toBe(true)
  first.end()
})

test('takePushLock takes over an old file without an owner', async () => {
  const { env, file } = await heldBy('')
  utimesSync(file, 1, 1)
  ;(await takePushLock(env, branch, never)).end()
  expect(existsSync(file)).toBe(false)
})

test('takePushLock does not wait for a folder in place of its file, and keeps it', async () => {
  const { env, file } = await heldBy('')
  spawnSync('rm', [file])
  mkdirSync(file)
  const lock = await takePushLock(env, branch, never)
  expect(lock.hasWaited).toBe(false)
  lock.end()
  expect(existsSync(file)).toBe(true)
})

test('takePushLock does not wait if its folder does not exist', async () => {
  ;(await takePushLock({ TMPDIR: '/nowhere' }, branch, never)).end()
})

test('an aborted signal ends takePushLock', async () => {
  const env = { TMPDIR: makeFolder() }
  const first = await takePushLock(env, branch, never)
  const reason = new Error('enough')
  await expect(takePushLock(env, branch, AbortSignal.abort(reason))).rejects.toBe(reason)
  first.end()
})
