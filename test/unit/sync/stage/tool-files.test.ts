import { afterEach, expect, test } from 'vitest'
import { isToolFile } from '../../../../sync/stage/tool-files.ts'
import { TwoSides } from '../../../support/sync/two-sides.ts'

let sides: TwoSides | undefined
afterEach(() => sides?.close())

test.each([
  ...[
    '.envrc',
    'package.json',
    'web/package.json',
    'Makefile',
    'a/.vscode/tasks.json',
    '.husky/pre-commit',
    '.idea/a/b.xml',
  ],
  ...['team.code-workspace', '.cargo/config.toml', 'src/setup.py', '.GitAttributes'],
])('isToolFile(%s) returns true', path => expect(isToolFile(path)).toBe(true))

test.each([
  'src/main.ts',
  'node_modules/a/package.json',
  'vscode/tasks.json',
  'package.json.bak',
  'dist/package.json',
  'readme',
])('isToolFile(%s) returns false', path => expect(isToolFile(path)).toBe(false))

test('a tool file from the container is reported once in a session, and no file of this machine', async () => {
  sides = new TwoSides()
  sides.laptop.put('/home/project/package.json', 'ours')
  sides.laptop.put('/home/project/Makefile', 'ours')
  sides.start()
  await sides.settle()
  for (const text of ['theirs', 'theirs again', 'and again']) {
    sides.fill({ 'package.json': text, 'src/a.ts': text })
    await sides.clock.run(2_000)
    await sides.settle()
  }
  expect(sides.files('local')).toMatchObject({ 'package.json': 'and again' })
  const told = sides.events.flatMap(event => (event.kind === 'tool-file' ? [event.path] : []))
  expect(told).toEqual(['package.json'])
})
