import { expect, test } from 'vitest'
import { TwoSides } from '../../../support/sync/two-sides.ts'

// A Mac, whose file system takes `Foo` and `foo` for one file. The container tells them apart.

async function mac(files: Readonly<Record<string, string>>): Promise<TwoSides> {
  const sides = new TwoSides({ platform: 'darwin' })
  sides.laptop.foldsCase = true
  sides.latency = 10
  for (const [path, text] of Object.entries(files)) {
    const place = sides.place('local', path)
    sides.laptop.folders(place.slice(0, place.lastIndexOf('/')))
    sides.laptop.put(place, text)
  }
  sides.start()
  await sides.settle()
  return sides
}

const rename = (sides: TwoSides, side: 'local' | 'remote', from: string, to: string) =>
  sides.disk(side).rename(sides.place(side, from), sides.place(side, to))

const problems = (sides: TwoSides) => sides.engine.status().problems

const shortened = (files: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [path, text.slice(0, 8)]))

test.each([
  ['small', 'upper', 'lower!'],
  ['large', 'u'.repeat(2 << 20), 'l'.repeat(3 << 20)],
])('two %s files of the container whose names differ only in case keep their contents', async (_, upper, lower) => {
  for (let delay = 0; delay < 80; delay += 16) {
    const sides = await mac({ 'n/z': 'one', y: 'two' })
    sides.fill({ 'n/A.txt': upper })
    await sides.clock.run(delay)
    sides.fill({ 'n/a.txt': lower })
    await sides.clock.run(5_000)
    const both = shortened({ 'n/A.txt': upper, 'n/a.txt': lower })
    expect(shortened(sides.files('remote'))).toMatchObject(both)
    const [path, ...more] = Object.keys(sides.files('local')).filter(path => /a\.txt/i.test(path))
    expect(more).toEqual([])
    expect(shortened(sides.files('local'))[path!]).toBe(both[path!])
    expect(problems(sides)).toMatchObject([{ message: expect.stringContaining('is there already') }])
    expect(sides.events.filter(({ kind }) => kind === 'conflict')).toEqual([])
    await sides.close()
  }
})

test.each([
  ['a file', { 'Foo.ts': 'foo', a: 'a', b: 'b' }, 'Foo.ts', 'foo.ts'],
  ['a folder', { 'Comp/x.ts': 'x', 'Comp/sub/y.ts': 'y', a: 'a', b: 'b', c: 'c', d: 'd' }, 'Comp', 'comp'],
])('%s that the container renames by case only is renamed on the laptop', async (_, files, from, to) => {
  const sides = await mac(files)
  rename(sides, 'remote', from, to)
  await sides.settle()
  expect(sides.files('local')).toEqual(sides.files('remote'))
  expect(Object.values(sides.files('local')).sort()).toEqual(expect.arrayContaining(Object.values(files).sort()))
  expect(Object.keys(sides.files('local')).some(path => path.startsWith(to))).toBe(true)
  await sides.close()
})

test('a name of the container that is refused is written once the user has removed the other one', async () => {
  const sides = await mac({ Readme: 'mine', a: 'one' })
  sides.fill({ README: 'theirs' })
  await sides.clock.run(3_000)
  expect(problems(sides)).toMatchObject([{ path: 'README' }])
  sides.laptop.removeAll(sides.place('local', 'Readme'))
  await sides.settle()
  expect(sides.files('local')).toEqual({ README: 'theirs', a: 'one' })
  expect(sides.files('remote')).toEqual({ README: 'theirs', a: 'one' })
  await sides.close()
})

test.each([
  ['only files that may be deleted', { 'pkg/.DS_Store': 'x' }, [], ['x']],
  [
    'other ignored files, too',
    { 'pkg/.DS_Store': 'x', 'pkg/.a.swp': 'y' },
    ['pkg/', 'pkg/.DS_Store', 'pkg/.a.swp'],
    [],
  ],
])('a folder that the container deletes, with %s, is deleted here accordingly', async (_, ignored, left, kept) => {
  const sides = await mac({ 'pkg/a.ts': 'a', b: 'b', c: 'c', d: 'd', ...ignored })
  sides.container.removeAll(sides.place('remote', 'pkg'))
  await sides.settle()
  expect(Object.keys(sides.files('local')).filter(path => path.startsWith('pkg'))).toEqual(left)
  expect(Object.values(sides.laptop.files('/home/state/deleted'))).toEqual(expect.arrayContaining(['a', ...kept]))
  await sides.close()
})
