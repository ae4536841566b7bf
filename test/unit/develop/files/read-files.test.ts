import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { watchReadFiles } from '../../../../develop/files/read-files.ts'
import { eventually } from '../../../support/cluster/cluster.ts'

let cwd: string
let stop = () => {}
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'devctl-read-'))
  writeFileSync(join(cwd, 'compose.yaml'), 'services: {}\n')
})
afterEach(() => {
  stop()
  rmSync(cwd, { recursive: true, force: true })
})

/** Watches the files of the folder, and returns the notes. */
function watch(names: readonly string[], searched = true): string[] {
  const notes: string[] = []
  const sources = names.map(name => join(cwd, name))
  stop = watchReadFiles({ sources, searched, cwd }, text => notes.push(text), 20)
  return notes
}

const noted = (notes: readonly string[], count: number) =>
  eventually(`${count} notes`, async () => (notes.length >= count ? true : undefined))

test('an override file that is created and deleted during `up` is noted', async () => {
  const notes = watch(['compose.yaml'])
  writeFileSync(join(cwd, 'compose.override.yaml'), 'services: {}\n')
  await noted(notes, 1)
  rmSync(join(cwd, 'compose.override.yaml'))
  writeFileSync(join(cwd, 'compose.yaml'), 'services: {a: {image: b}}\n')
  await noted(notes, 2)
  expect(notes).toEqual([
    '`compose.override.yaml` was created: end `up` and start it again to use it',
    '`compose.yaml` has changed: `up` continues with what it read at the start; end it and start it again to use the change',
  ])
})

test('an override file that is deleted during `up` is noted', async () => {
  writeFileSync(join(cwd, 'compose.override.yml'), 'services: {}\n')
  const notes = watch(['compose.yaml', 'compose.override.yml'])
  rmSync(join(cwd, 'compose.override.yml'))
  await noted(notes, 1)
  expect(notes[0]).toContain('`compose.override.yml` was deleted')
})

test('an override file that `up` would not read is not noted, nor is a file that is written unchanged', async () => {
  const notes = watch(['compose.yaml', '.env'], false)
  writeFileSync(join(cwd, 'compose.override.yaml'), 'services: {}\n')
  writeFileSync(join(cwd, 'compose.yaml'), 'services: {}\n')
  writeFileSync(join(cwd, '.env'), 'A=1\n')
  await noted(notes, 1)
  expect(notes).toEqual(['`.env` was created: end `up` and start it again to use it'])
})
