import { expect, test } from 'vitest'
import { type Side, TwoSides } from '../../support/sync/two-sides.ts'

async function synced(files: Readonly<Record<string, string>>): Promise<TwoSides> {
  const sides = new TwoSides()
  for (const [path, text] of Object.entries(files)) write(sides, 'local', path, text)
  sides.start()
  await sides.settle()
  return sides
}

function write(sides: TwoSides, side: Side, path: string, text: string): void {
  const place = sides.place(side, path)
  sides.disk(side).folders(place.slice(0, place.lastIndexOf('/')))
  sides.disk(side).put(place, text)
}

test('a newly ignored path stays as it is on both sides, whatever changes there', async () => {
  const sides = await synced({ 'a.log': 'one', 'logs/b': 'two', c: 'three' })
  write(sides, 'local', '.stignore', '*.log\nlogs\n')
  await sides.settle()
  expect(sides.files('remote')).toMatchObject({ 'a.log': 'one', 'logs/b': 'two' })
  write(sides, 'local', 'a.log', 'one here')
  sides.laptop.removeAll('/home/project/logs')
  write(sides, 'remote', 'logs/new', 'there')
  write(sides, 'remote', 'c', 'three there')
  await sides.settle()
  expect(sides.files('local')).toEqual({ '.stignore': '*.log\nlogs\n', 'a.log': 'one here', c: 'three there' })
  expect(sides.files('remote')).toMatchObject({ 'a.log': 'one', 'logs/b': 'two', 'logs/new': 'there' })
  expect(sides.engine.status()).toMatchObject({ percent: 100, files: 1, problems: [] })
  await sides.close()
})

test('a path that is no longer ignored is merged like a new one', async () => {
  const sides = await synced({ '.stignore': 'x\n', 'x/mine': 'mine', 'x/both': 'here', a: 'one' })
  write(sides, 'remote', 'x/both', 'there')
  write(sides, 'remote', 'x/theirs', 'theirs')
  await sides.settle()
  expect(sides.files('remote')).not.toHaveProperty('x/mine')
  write(sides, 'local', '.stignore', '')
  await sides.settle()
  const all = { 'x/mine': 'mine', 'x/both': 'here', 'x/theirs': 'theirs', a: 'one' }
  expect(sides.files('local')).toMatchObject(all)
  expect(sides.files('remote')).toMatchObject(all)
  expect(sides.kept()).toContain('there')
  await sides.close()
})

test('the ignore file may ignore itself, and may be created and deleted', async () => {
  const sides = await synced({ a: 'one', b: 'two' })
  write(sides, 'local', '.stignore', '.*\na\n')
  await sides.settle()
  write(sides, 'local', '.stignore', '.*\nb\n')
  await sides.settle()
  write(sides, 'local', 'a', 'one here')
  write(sides, 'local', 'b', 'two here')
  await sides.settle()
  expect(sides.files('remote')).toEqual({ a: 'one here', b: 'two' })
  sides.laptop.removeAll('/home/project/.stignore')
  await sides.settle()
  expect(sides.files('remote')).toEqual({ a: 'one here', b: 'two here' })
  await sides.close()
})

test('a changed ignore file needs no new connection, and causes no event', async () => {
  const sides = await synced({ a: 'one' })
  const { attached } = sides
  let hasEnded = false
  void attached!.ended.then(() => {
    hasEnded = true
  })
  write(sides, 'local', '.stignore', 'b\n')
  write(sides, 'local', 'b', 'x'.repeat(3 << 20))
  await sides.settle()
  expect(sides.files('remote')).toEqual({ a: 'one' })
  expect(hasEnded).toBe(false)
  expect(sides.events.filter(({ kind }) => kind !== 'progress')).toEqual([])
  await sides.close()
})

test('a mistake in the ignore file is reported, and the earlier rules apply until it is corrected', async () => {
  const files = { '.stignore': 'secret', secret: 'mine', a: 'one' }
  const sides = new TwoSides()
  const ignores = () => {
    const source = sides.ignores()
    if (source.text?.includes('{')) throw new Error('line 1: a brace is not closed')
    return source
  }
  for (const [path, text] of Object.entries(files)) write(sides, 'local', path, text)
  sides.startAgent()
  sides.startLaptop({
    folders: [{ name: '0', local: '/home/project', ignores: ignores(), readIgnores: ignores }],
  })
  await sides.settle()
  const told = () => sides.events.flatMap(event => (/problem|solved/.test(event.kind) ? [event] : []))
  for (const text of ['{secret', '{secret,a']) {
    write(sides, 'local', '.stignore', text)
    write(sides, 'local', 'a', text)
    await sides.clock.run(2_000)
  }
  const problem = { folder: '0', path: '.stignore', side: 'local', message: expect.stringContaining('line 1: a brace') }
  expect(sides.files('remote')).toEqual({ a: '{secret,a' })
  expect(told()).toMatchObject([{ kind: 'problem', problem }])
  expect(sides.engine.status().problems).toMatchObject([problem])
  write(sides, 'local', '.stignore', 'secret')
  await sides.settle()
  expect(told()).toMatchObject([
    { kind: 'problem', problem },
    { kind: 'solved', problem },
  ])
  expect(sides.files('remote')).toEqual({ a: '{secret,a' })
  await sides.close()
})
