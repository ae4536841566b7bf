import { expect, test } from 'vitest'
import { TreeNode } from '../../../../sync/core/tree-node.ts'
import { Scanner } from '../../../../sync/scan/scanner.ts'
import { MemoryDisk } from '../../../support/sync/memory-disk.ts'
import { VirtualClock } from '../../../support/sync/virtual-clock.ts'

test('a full queue of slow events leads to a scan of everything', async () => {
  const clock = new VirtualClock()
  let slow = 0
  const disk = new MemoryDisk(clock.now, () => {})
  disk.folders('/root')
  disk.put('/root/a', 'one')
  const tree = new TreeNode('')
  const live = new Scanner({
    disk,
    clock: { now: () => clock.now() + slow, after: (...words) => clock.after(...words) },
    root: '/root',
    tree,
    ignores: { ignores: () => false, mayHoldIncluded: () => false, deletable: () => false },
    recursive: false,
    rescanInterval: 0,
    changed: () => {},
    settled: () => {},
    problem: () => {},
  })
  const started = live.start()
  await clock.run(10)
  await started
  disk.put('/root/lost', 'its event was dropped')
  for (let n = 0; n < 10_000; n++) {
    slow += 0.3
    live.hint('a')
  }
  await clock.run(2_000)
  expect(tree.find('lost')?.local).toMatchObject({ kind: 'file' })
  live.close()
})
