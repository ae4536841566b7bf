import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { type Bench, startBench, until } from '../../support/sync/agent-process.ts'
import { filesOf } from '../../support/sync/files-of.ts'
import { longTest } from '../../support/takes-all.ts'

// A folder of the laptop disappears as a whole and reappears: it was moved, or only one of two git branches has it.

let bench: Bench | undefined
afterEach(() => bench?.close())

const FILES = { 'package.json': '{}', 'src/routes.js': 'routes', 'src/server.js': 'server', 'vendor/left.js': 'left' }

function write(root: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
}

async function inSync(files: Readonly<Record<string, string>>) {
  const opened = await startBench()
  bench = opened
  write(opened.local, files)
  await opened.startAgent()
  const engine = opened.engine()
  await engine.attach(await opened.connect(), Buffer.from(opened.config.key, 'hex')).synced
  const stopped = () => until(() => opened.events.some(({ kind }) => kind === 'stopped'))
  const continued = () => until(() => opened.events.some(({ kind }) => kind === 'continued'))
  return { ...opened, engine, stopped, continued }
}

test('a folder that is moved away and back loses no files, and the sync continues', async () => {
  const { local, remote, stopped, continued } = await inSync(FILES)
  renameSync(local, `${local}.bak`)
  await stopped()
  expect(filesOf(remote)).toEqual(filesOf(`${local}.bak`))
  renameSync(`${local}.bak`, local)
  await continued()
  appendFileSync(join(local, 'src/routes.js'), ' more')
  await until(() => readFileSync(join(remote, 'src/routes.js'), 'utf8') === 'routes more')
  expect(filesOf(remote)).toEqual(filesOf(local))
})

longTest('an edit right after the folder reappears deletes no other files', async () => {
  const { local, remote, stopped, continued } = await inSync(FILES)
  renameSync(local, `${local}.bak`)
  await stopped()
  renameSync(`${local}.bak`, local)
  appendFileSync(join(local, 'src/routes.js'), ' more')
  await continued()
  await until(() => readFileSync(join(remote, 'src/routes.js'), 'utf8') === 'routes more')
  await sleep(500)
  expect(filesOf(remote)).toEqual(filesOf(local))
})

test('a folder that is deleted with its only file and recreated is synced', async () => {
  const { local, remote, stopped, continued } = await inSync({ 'index.html': 'one' })
  rmSync(local, { recursive: true })
  await stopped()
  expect(filesOf(remote)).toEqual({ 'index.html': 'one' })
  write(local, { 'index.html': 'two' })
  await continued()
  await until(() => readFileSync(join(remote, 'index.html'), 'utf8') === 'two')
  write(local, { 'index.html': 'three' })
  await until(() => readFileSync(join(remote, 'index.html'), 'utf8') === 'three')
})

longTest('a folder that reappears file by file a moment later is synced', async () => {
  const { local, remote, engine } = await inSync(FILES)
  rmSync(local, { recursive: true })
  await sleep(50)
  for (const [path, text] of Object.entries(FILES)) {
    write(local, { [path]: `${text} again` })
    await sleep(20)
  }
  await until(() => readFileSync(join(remote, 'vendor/left.js'), 'utf8') === 'left again')
  await until(() => engine.status().state === 'synced')
  expect(filesOf(remote)).toEqual(filesOf(local))
})
