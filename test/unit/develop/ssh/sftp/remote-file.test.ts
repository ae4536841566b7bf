import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import type { ExecProcess } from '../../../../../adapters/kubernetes/exec.ts'
import type { FrontContainer } from '../../../../../develop/ssh/container.ts'
import { FileCommandFailed } from '../../../../../develop/ssh/sftp/file-commands.ts'
import { RemoteFile } from '../../../../../develop/ssh/sftp/remote-file.ts'

/** Returns a file whose program prints this text and ends with a status. */
function fileOf(text: string, status: number): RemoteFile {
  const run = async () => {
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
    stdout.end(text)
    stderr.end()
    return { stdin, stdout, stderr, exit: Promise.resolve(status), destroy: () => {} } as unknown as ExecProcess
  }
  const container = { tool: '/busybox', run } as unknown as FrontContainer
  return new RemoteFile(container, '/file', false, new AbortController().signal)
}

test('RemoteFile reads no bytes at the end of a file', async () => {
  const file = fileOf('content', 0)
  expect((await file.read(0, 100)).toString()).toBe('content')
  expect(await file.read(7, 100)).toHaveLength(0)
})

test.each([1, 137])('RemoteFile rejects the read at the end of a program that ended with status %i', async status => {
  const file = fileOf('cont', status)
  expect((await file.read(0, 4)).toString()).toBe('cont')
  await expect(file.read(4, 100)).rejects.toThrow(FileCommandFailed)
})

test('RemoteFile reads no bytes if none are requested', async () => {
  const file = fileOf('content', 0)
  expect(await file.read(0, 0)).toHaveLength(0)
  expect((await file.read(0, 7)).toString()).toBe('content')
})
