import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { build, findBuilders } from '../../support/buildkit/buildkit.ts'
import { makeFolder } from '../../support/cli/folder.ts'
import { few } from '../../support/takes-all.ts'
import { failureOf, once } from './faults.ts'

const mayMount = process.getuid?.() === 0 && process.platform === 'linux'

describe.skipIf(!mayMount)('a disk that is full', () => {
  test.each(few(findBuilders()))('an archive from %s for a full disk fails, and leaves no file', async (_, address) => {
    const disk = smallDisk()
    const dockerfile = { text: `FROM busybox\n${once()} && head -c 3000000 /dev/urandom > /random\n` }
    const output = { kind: 'archive', path: join(disk, 'out.tar'), names: [] } as const
    const failure = await failureOf(build(address, { context: { folder: makeFolder() }, dockerfile, output }))
    expect(failure).toMatchObject({ isTransient: false, message: expect.stringContaining('ENOSPC') })
    expect(readdirSync(disk)).toEqual([])
  })
})

/** Creates a disk with room for one mebibyte. */
function smallDisk(): string {
  const disk = join(makeFolder(), 'disk')
  mkdirSync(disk)
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk])
  onTestFinished(() => void execFileSync('umount', [disk]))
  return disk
}
