import { expect, test } from 'vitest'
import { NO_IGNORES } from '../../../sync/scan/ignore-source.ts'
import { SMALL_FILE } from '../../../sync/stage/writer.ts'
import { TwoSides } from '../../support/sync/two-sides.ts'

// The container mounts the file itself: a file that is renamed over it is not visible there.

const PLACE = '/volume/src/0/nginx.conf'
const HERE = '/home/project/nginx.conf'

function twoSides(): TwoSides {
  const rules = [{ under: 'nginx.conf', isFile: true, except: [] }]
  const ignores = { ...NO_IGNORES, text: '', rules }
  return new TwoSides(
    { folders: [{ name: '0', local: '/home/project', ignores, file: 'nginx.conf' }] },
    { folders: [{ name: '0', path: 'src/0', file: 'nginx.conf' }] },
  )
}

async function synced(text: string): Promise<TwoSides> {
  const sides = twoSides()
  sides.laptop.put(HERE, text)
  sides.laptop.put('/home/project/other', 'stays here')
  sides.start()
  await sides.settle()
  return sides
}

const inode = (sides: TwoSides) => sides.container.entry(PLACE)?.inode

const LARGE = 'x'.repeat(SMALL_FILE + 10)

test('a mounted file is written in place, whatever its size and its bytes are', async () => {
  const sides = await synced('one')
  expect(sides.files('remote')).toEqual({ 'nginx.conf': 'one' })
  const first = inode(sides)
  for (const text of ['two', LARGE, `${LARGE}, and more`, 'a \0 byte', '', 'three']) {
    // An editor that saves by renaming creates another file.
    sides.laptop.removeFile(HERE)
    sides.laptop.put(HERE, text)
    await sides.settle()
    expect(sides.container.text(PLACE) === text).toBe(true)
    expect(inode(sides)).toBe(first)
  }
  sides.container.put(PLACE, 'by the container')
  await sides.settle()
  expect(sides.laptop.text(HERE)).toBe('by the container')
  await sides.close()
})

test('a mounted file that is deleted here stays in the container, and is reported after a moment', async () => {
  const sides = await synced('one')
  const first = inode(sides)
  sides.laptop.removeFile(HERE)
  await sides.clock.run(500)
  expect(sides.engine.status().problems).toEqual([])
  await sides.clock.run(2_000)
  expect(sides.engine.status().problems).toMatchObject([{ path: 'nginx.conf', side: 'local' }])
  expect(sides.container.text(PLACE)).toBe('one')
  sides.laptop.put(HERE, 'two')
  await sides.settle()
  expect(sides.container.text(PLACE)).toBe('two')
  expect(inode(sides)).toBe(first)
  await sides.close()
})

test('a mounted file exists before the application starts, even if it is new in the volume', async () => {
  const sides = new TwoSides()
  sides.laptop.put('/home/project/a', 'one')
  sides.start()
  await sides.settle()
  await sides.close()
  sides.container.removeFile('/run/ready')

  const more = twoSides()
  more.container = sides.container
  more.startAgent()
  expect(more.container.entry('/run/ready')).toBeUndefined()
  more.laptop.put(HERE, 'two')
  more.startLaptop()
  await more.settle()
  expect(more.container.entry('/run/ready')).toBeDefined()
  await more.close()
  more.container.removeFile('/run/ready')
  more.startAgent()
  expect(more.container.entry('/run/ready')).toBeDefined()
  more.server.close()
})

test('a mounted file that does not exist here is empty in the container', async () => {
  const sides = twoSides()
  sides.start()
  await sides.settle()
  expect(sides.files('remote')).toEqual({ 'nginx.conf': '' })
  await sides.close()
})
