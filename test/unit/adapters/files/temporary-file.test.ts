import { spawnSync } from 'node:child_process'
import { readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryPath } from '../../../../adapters/files/temporary-file.ts'
import { makeFolder } from '../../../support/cli/folder.ts'

test('temporaryPath deletes the files that ended processes left for the same target', async () => {
  const folder = makeFolder()
  const own = await temporaryPath(folder, 'out.tar')
  const ended = spawnSync(process.execPath, ['--version']).pid
  const other = (path: string, pid: number) => basename(path).replace(`-${process.pid}-`, `-${pid}-`)
  const elsewhere = basename(own).replace(/\.[0-9a-f]{8}-/, '.00000000-')
  const kept = [
    basename(own),
    other(own, process.ppid),
    other(await temporaryPath(folder, 'other.tar'), ended),
    elsewhere,
    'out.tar.1234.tmp',
    'out.tar',
  ]
  const old = elsewhere.replace('00000000', '00000001')
  for (const name of [...kept, other(own, ended), old]) writeFileSync(join(folder, name), '')
  utimesSync(join(folder, old), 1, 1)
  const next = await temporaryPath(folder, 'out.tar')
  expect(readdirSync(folder).sort()).toEqual([...kept].sort())
  expect(next).not.toBe(own)
})
