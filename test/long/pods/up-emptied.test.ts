import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type DevelopmentPlace, openDevelopment } from '../../pods/develop/development.ts'
import { write } from '../../support/cli/folder.ts'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'
import { longTest } from '../../support/takes-all.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

describe.skipIf(cluster === undefined)('a folder that has lost all files', () => {
  let place: DevelopmentPlace

  beforeAll(async () => {
    place = await openDevelopment(cluster!, 'emptied')
    write(place.folder, {
      'devctl.yml': `dev:
  api:
    autocreate: true
    image: node:22-alpine
    command: ["sh", "-c", "echo runs; sleep 300"]
    securityContext: {runAsUser: 1000}
    sync: ["./code:/app"]
`,
      'code/one.txt': '1',
      'code/two.txt': '2',
      'code/three.txt': '3',
    })
  })
  afterAll(() => place?.close())

  const devctl = (...words: readonly string[]) => place.devctl(...words)
  const here = () => readdirSync(join(place.folder, 'code')).sort()
  const there = async () => {
    const list = devctl('exec', '--', 'ls', '/app')
    expect(await list.status, list.stderr).toBe(0)
    return list.stdout.split('\n').slice(0, -1).sort()
  }
  /** Deletes all files at once for the session: separate deletions would be ordinary ones. */
  const empty = () => {
    const sessions = place.processes()
    expect(sessions).not.toEqual([])
    for (const pid of sessions) process.kill(pid, 'SIGSTOP')
    for (const name of here()) rmSync(join(place.folder, 'code', name))
    for (const pid of sessions) process.kill(pid, 'SIGCONT')
  }
  const stopped = () =>
    eventually('the synchronization has stopped', async () => {
      const status = devctl('status')
      await status.status
      return status.stdout.includes('all files of ./code are gone here') ? status.stdout : undefined
    })

  test('an emptied folder is restored, or emptied in the container, by a command', async () => {
    const all = ['one.txt', 'three.txt', 'two.txt']
    const up = devctl('up', '--detach')
    expect(await up.status, up.stderr).toBe(0)
    const nothing = devctl('status', '--answer', 'delete')
    expect(await nothing.status).toBe(1)
    expect(nothing.stderr).toContain('no folder of `api` waits for an answer')

    empty()
    expect(await stopped()).toContain('`devctl status api --answer restore`')
    expect(await there()).toEqual(all)
    const restore = devctl('status', 'api', '--answer', 'restore')
    expect(await restore.status, restore.stderr).toBe(0)
    await eventually('the files are back', async () => (here().length === 3 ? true : undefined))

    empty()
    await stopped()
    const remove = devctl('status', 'api', '--answer', 'delete')
    expect(await remove.status, remove.stderr).toBe(0)
    await eventually('the files are gone there, too', async () => ((await there()).length === 0 ? true : undefined))
    expect(here()).toEqual([])

    const down = devctl('down')
    expect(await down.status, down.stderr).toBe(0)
  })

  longTest('up reports an emptied folder with the command that answers', async () => {
    write(place.folder, { 'code/one.txt': '1', 'code/two.txt': '2' })
    const up = devctl('up')
    await up.until(/^runs/, 180)
    empty()
    await eventually('up says it', async () =>
      up.stderr.includes('`devctl status api --answer delete` deletes them in the container, too') ? true : undefined,
    )
    expect((await up.interrupt()).status).toBe(130)
  })
})
