import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { takeTurn } from '../../gitops/turn.ts'
import { makeFolder } from '../cli/folder.ts'

const never = new AbortController().signal
const branch = 'https://git.example.com/deploy.git main'

const fileIn = (folder: string) => join(folder, readdirSync(folder).find(name => name.startsWith('devctl-turn-'))!)

/** A folder in which somebody else has the turn. */
async function heldBy(owner: string): Promise<{ readonly env: { readonly TMPDIR: string }; readonly file: string }> {
  const env = { TMPDIR: makeFolder() }
  const turn = await takeTurn(env, branch, never)
  const file = fileIn(env.TMPDIR)
  turn.end()
  writeFileSync(file, owner)
  return { env, file }
}

test('one after the other; who waited is told', async () => {
  const env = { TMPDIR: makeFolder() }
  const first = await takeTurn(env, branch, never)
  expect(first.hasWaited).toBe(false)
  let isSecond = false
  const second = takeTurn(env, branch, never).then(turn => {
    isSecond = true
    return turn
  })
  const other = await takeTurn(env, `${branch}-2`, never)
  expect({ isSecond, hasWaited: other.hasWaited }).toEqual({ isSecond: false, hasWaited: false })
  first.end()
  expect((await second).hasWaited).toBe(true)
  ;(await second).end()
  other.end()
  expect(readdirSync(env.TMPDIR)).toEqual([])
})

test('an owner that is gone is not waited for', async () => {
  const { pid } = spawnSync(process.execPath, ['-e', ''])
  const { env, file } = await heldBy(`${pid} 1\nx\n`)
  const turn = await takeTurn(env, branch, never)
  turn.end()
  expect(existsSync(file)).toBe(false)
})

test('an id that another process has by now is not the owner', async () => {
  const { env } = await heldBy(`${process.pid} 1\nx\n`)
  if (process.platform === 'linux') (await takeTurn(env, branch, never)).end()
})

test('an owner that is slow is waited for, but not for ever, and keeps its turn', async () => {
  const env = { TMPDIR: makeFolder() }
  const first = await takeTurn(env, branch, never)
  const second = await takeTurn(env, branch, never, 50)
  expect(second.hasWaited).toBe(true)
  second.end()
  expect(existsSync(fileIn(env.TMPDIR))).toBe(true)
  first.end()
})

test('a file that was never written is nobody’s after a while', async () => {
  const { env, file } = await heldBy('')
  utimesSync(file, 1, 1)
  ;(await takeTurn(env, branch, never)).end()
  expect(existsSync(file)).toBe(false)
})

test('what is no file of ours is not waited for, and stays', async () => {
  const { env, file } = await heldBy('')
  spawnSync('rm', [file])
  mkdirSync(file)
  const turn = await takeTurn(env, branch, never)
  expect(turn.hasWaited).toBe(false)
  turn.end()
  expect(existsSync(file)).toBe(true)
})

test('a folder that takes no files is no reason to wait', async () => {
  ;(await takeTurn({ TMPDIR: '/nowhere' }, branch, never)).end()
})

test('the signal ends the wait', async () => {
  const env = { TMPDIR: makeFolder() }
  const first = await takeTurn(env, branch, never)
  const reason = new Error('enough')
  await expect(takeTurn(env, branch, AbortSignal.abort(reason))).rejects.toBe(reason)
  first.end()
})
