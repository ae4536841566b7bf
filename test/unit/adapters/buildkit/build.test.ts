import { execFileSync, spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { secretContent } from '../../../../adapters/buildkit/build.ts'
import { makeFolder } from '../../../support/cli/folder.ts'

const pipe = () => {
  const path = join(makeFolder(), 'pipe')
  execFileSync('mkfifo', [path])
  return path
}

test('secretContent returns a value or the content of a file, and fails for a missing file', async () => {
  expect(String(await secretContent({ value: 'one' }))).toBe('one')
  const folder = makeFolder({ secret: 'two' })
  expect(String(await secretContent({ file: join(folder, 'secret') }))).toBe('two')
  await expect(secretContent({ file: join(folder, 'gone') })).rejects.toThrow('ENOENT')
})

test('secretContent reads a pipe once for all builds and all their attempts', async () => {
  const file = pipe()
  const writer = spawn('sh', ['-c', `(echo first; sleep 0.2; echo second) > ${file}`])
  // Each build, and each attempt, describes the secret anew.
  const read = () => secretContent({ file })
  // The writer is ready once it waits for a reader.
  await new Promise(resolve => writer.once('spawn', () => setTimeout(resolve, 300)))
  const contents = await Promise.all([read(), read()])
  contents.push(await read())
  expect(contents.map(String)).toEqual(Array(3).fill('first\nsecond\n'))
})
