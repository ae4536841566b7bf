import { afterEach, expect, test } from 'vitest'
import { NO_IGNORES } from '../../../../sync/scan/ignore-source.ts'
import { TwoSides } from '../../../support/sync/two-sides.ts'

// The container never changes the files that decide which code runs on this machine.

let sides: TwoSides
afterEach(() => sides.close())

/** Starts with these files on this machine, and waits until both sides have them. */
async function begin(
  files: Readonly<Record<string, string>>,
  onlyHere: readonly string[] = [],
  platform: NodeJS.Platform = 'linux',
) {
  sides = new TwoSides({ platform, folders: [{ name: '0', local: '/home/project', ignores: NO_IGNORES, onlyHere }] })
  for (const [path, text] of Object.entries(files)) here(path, text)
  sides.start()
  await sides.settle()
}

function here(path: string, text: string) {
  const place = sides.place('local', path)
  sides.laptop.folders(place.slice(0, place.lastIndexOf('/')))
  sides.laptop.put(place, text)
}

async function inContainer(files: Readonly<Record<string, string>>) {
  sides.fill(files)
  await sides.clock.run(2_000)
  await sides.settle()
}

/** The files of this machine, without the folders. */
const filesHere = () => Object.fromEntries(Object.entries(sides.files('local')).filter(([path]) => !path.endsWith('/')))

const told = () => sides.events.flatMap(one => (one.kind === 'problem' ? [one.problem.path] : []))

const BY_NAME = [
  ...['devctl.yml', 'devctl.yaml', 'compose.yaml', 'compose.yml', 'docker-compose.yml', 'docker-compose.yaml'],
  ...['compose.override.yaml', 'docker-compose.override.yml', '.env', '.devctl.d/devctl.yml', 'api/.env', 'Devctl.YML'],
]

test.each(BY_NAME)('%s from the container stays there, and is reported once', async path => {
  await begin({ 'a.txt': 'a' })
  await inContainer({ [path]: 'theirs', 'b.txt': 'b' })
  expect(filesHere()).toEqual({ 'a.txt': 'a', 'b.txt': 'b' })
  expect(sides.files('remote')).toHaveProperty([path], 'theirs')
  await inContainer({ [path]: 'theirs, again' })
  expect(filesHere()).not.toHaveProperty([path])
  expect(told()).toEqual([path])
  expect(sides.engine.status()).toMatchObject({ state: 'synced', leftOut: { count: 1 } })
  sides.container.removeAll(sides.place('remote', path))
  await sides.clock.run(2_000)
  expect(sides.engine.status().leftOut.count).toBe(0)
})

test('a protected file ignores changes in the container, and the next change here wins', async () => {
  await begin({ 'devctl.yml': 'ours', 'deploy/vars': 'ours', 'other/vars': 'ours' }, ['deploy/vars'])
  await inContainer({ 'devctl.yml': 'theirs', 'deploy/vars': 'theirs', 'other/vars': 'theirs' })
  expect(filesHere()).toEqual({ 'devctl.yml': 'ours', 'deploy/vars': 'ours', 'other/vars': 'theirs' })
  expect(told().sort()).toEqual(['deploy/vars', 'devctl.yml'])
  here('devctl.yml', 'ours, again')
  await sides.clock.run(2_000)
  await sides.settle()
  expect(sides.files('remote')).toHaveProperty(['devctl.yml'], 'ours, again')
  expect(sides.kept()).toContain('theirs')
  expect(sides.engine.status().leftOut.count).toBe(1)
  sides.container.removeAll(sides.place('remote', 'devctl.yml'))
  sides.container.removeAll(sides.place('remote', 'deploy'))
  await sides.clock.run(20_000)
  expect(filesHere()).toEqual({ 'devctl.yml': 'ours, again', 'deploy/vars': 'ours', 'other/vars': 'theirs' })
})

const BARE = { 'lib/config': '[core]', 'lib/objects/x': 'x', 'lib/refs/heads/x': 'x', 'lib/HEAD': 'ref: refs/heads/x' }

test('no folder becomes a git repository, in whatever order its parts come', async () => {
  await begin({ 'lib/a.txt': 'a' })
  for (const [path, text] of Object.entries(BARE)) await inContainer({ [path]: text })
  expect(filesHere()).not.toHaveProperty(['lib/HEAD'])
  expect(told()).toEqual(['lib/HEAD'])
  expect(sides.engine.status().state).toBe('synced')
})

test('a file HEAD of this machine gets neither `objects` with `refs` nor `commondir` beside it', async () => {
  await begin({ 'lib/HEAD': 'ref: refs/heads/x', 'other/HEAD': 'x', 'third/HEAD': 'x' })
  await inContainer({ 'lib/objects/x': 'x', 'third/src/HEAD/a': 'a' })
  await inContainer({ 'lib/refs/heads/x': 'x', 'lib/config': 'theirs', 'other/commondir': '../lib' })
  expect(filesHere()).toEqual({
    ...{ 'lib/HEAD': 'ref: refs/heads/x', 'other/HEAD': 'x', 'third/HEAD': 'x' },
    ...{ 'lib/objects/x': 'x', 'third/src/HEAD/a': 'a' },
  })
  expect(told().sort()).toEqual(['lib', 'other'])
})

test('a repository without a working tree does not change', async () => {
  const files = { ...BARE, 'lib/hooks/sample': 'ours', 'a.txt': 'a' }
  await begin(files)
  await inContainer({ 'lib/config': 'fsmonitor', 'lib/hooks/post-checkout': 'evil', 'lib/HEAD': 'other', 'a.txt': 'b' })
  expect(filesHere()).toEqual({ ...files, 'a.txt': 'b' })
})

test('the names of a repository are compared without case where the file system does so', async () => {
  await begin({ 'lib/head': 'ref: refs/heads/x', 'a.txt': 'a' }, [], 'darwin')
  await inContainer({ 'other/Head': 'x', 'lib/Objects/x': 'x' })
  await inContainer({ 'lib/Refs/heads/x': 'x', 'lib/config': 'theirs' })
  expect(filesHere()).toEqual({ 'lib/head': 'ref: refs/heads/x', 'a.txt': 'a', 'lib/Objects/x': 'x' })
  expect(told().sort()).toEqual(['lib', 'other/Head'])
})
