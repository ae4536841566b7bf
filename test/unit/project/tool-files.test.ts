import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { OperationEvent } from '../../../api/events.ts'
import { ToolFileNotes, tellToolFiles } from '../../../project/tool-files.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'devctl-tools-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const at = (path: string) => join(folder, path)
const world = () => ({ env: { DEVCTL_HOME: at('home') }, cwd: at('shop') })

async function note(...paths: readonly string[]): Promise<unknown[]> {
  const failures: unknown[] = []
  const notes = new ToolFileNotes(world(), error => failures.push(error))
  for (const path of paths) notes.add(at(path))
  await notes.written()
  return failures
}

/** Returns the files that a command in a folder names. */
async function said(path: string): Promise<readonly string[]> {
  const events: OperationEvent[] = []
  await tellToolFiles(world(), event => events.push(event), at(path))
  return events.flatMap(event => (event.type === 'warning' ? [event.text.replace(/.*: /, '')] : []))
}

test('the next command names the files in its project or in a folder above, once', async () => {
  expect(await said('shop')).toEqual([])
  expect(await note('shop/package.json', 'shop/api/.envrc', 'shop2/Makefile', 'shop/package.json', '.envrc')).toEqual(
    [],
  )
  expect(await note('shop/Makefile')).toEqual([])
  expect(await said('other/deep')).toEqual(['`../.envrc`'])
  expect(await said('shop')).toEqual(['`package.json`, `api/.envrc`, `Makefile`'])
  expect(await said('shop')).toEqual([])
  expect(await said('shop2')).toEqual(['`../shop2/Makefile`'])
})

test('only some of many files are named, and control characters are escaped', async () => {
  await note(...Array.from({ length: 300 }, (_, at) => `shop/${at}/.envrc`), 'shop/\u001b[2J/.envrc')
  const [text] = await said('shop')
  expect(text).toMatch(/^(`\d+\/\.envrc`, ){7}`\d+\/\.envrc`, and 192 more$/)
  expect(await said('shop')).toEqual([])
  await note('shop/\u001b[2J/.envrc')
  expect(await said('shop')).toEqual(['`\\u001b[2J/.envrc`'])
})

test('unreadable notes are ignored, and a failure to write them is reported', async () => {
  mkdirSync(at('home'))
  writeFileSync(at('home/tool-files.json'), '{"paths": [7')
  expect(await said('shop')).toEqual([])
  expect(await note('shop/.envrc')).toEqual([])
  expect(JSON.parse(readFileSync(at('home/tool-files.json'), 'utf8'))).toEqual({ paths: [at('shop/.envrc')] })
  rmSync(at('home'), { recursive: true })
  mkdirSync(at('home/tool-files.json'), { recursive: true })
  expect(await said('shop')).toEqual([])
  expect(await note('shop/.envrc')).toHaveLength(1)
})
