import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import { serveControl } from '../../../develop/control/server.ts'
import { controlAddress } from '../../../develop/session/session-folder.ts'
import { answerEmptied } from '../../../develop/status.ts'
import { openProject } from '../../../project/open-project.ts'
import type { Session } from '../../../project/session.ts'
import { makeFolder } from '../../support/cli/folder.ts'

const MANIFEST = 'dev: {admin: {sync: [".:/a"]}, api: {sync: [".:/a"]}, web: {sync: [".:/a"]}}\n'
const FOLDER = { local: '.', remote: '/a', side: 'local' as const }

/** State of the `up` of a development container: it has a folder that waits for an answer, or none, or ends. */
type Up = 'waits' | 'idle' | 'ends'

async function answer(running: Readonly<Record<string, Up>>, input: { all?: boolean; devs?: readonly string[] }) {
  const cwd = makeFolder({ 'devctl.yml': MANIFEST })
  const home = mkdtempSync(join(tmpdir(), 'dh-'))
  const told: string[] = []
  const access = { server: new URL('https://kubernetes/') }
  for (const [dev, up] of Object.entries(running)) {
    const key = { server: access.server.href, namespace: 'shop', dev }
    const report = { dev, namespace: 'shop', context: 'c', folder: cwd, state: 'ready' as const, text: '', since: 0 }
    const emptied = up === 'idle' ? [] : [FOLDER]
    const server = await serveControl(controlAddress(home, key, process.platform), async ({ ask }) => {
      if (ask === 'answer' && up === 'ends') void server.close()
      if (ask === 'answer' && up === 'ends') return new Promise<never>(() => {})
      if (ask === 'answer') told.push(dev)
      if (ask === 'answer' && up === 'idle') return { ok: false, message: 'waits for nothing' }
      return { ok: true, report: { ...report, process: 1, emptied } }
    })
    onTestFinished(() => server.close())
  }
  const session = {
    access,
    namespace: 'shop',
    signal: new AbortController().signal,
    cluster: { list: async () => [], get: async () => ({ metadata: { name: 'shop' } }) },
  } as unknown as Session
  const workspace = { cwd, env: { DEVCTL_HOME: home }, readStdin: async () => new Uint8Array() }
  const world = { workspace, session, on: () => {} }
  const project = await openProject(workspace, {})
  const outcome = await answerEmptied(world, { ...input, answer: 'restore' }, project).then(
    answered => [...answered.keys()],
    (error: unknown) => (error instanceof UserError ? error.message : Promise.reject(error)),
  )
  return { outcome, told: told.sort() }
}

test.each<[string, Readonly<Record<string, Up>>, object, readonly string[] | string]>([
  ['all that wait, if others are not active', { api: 'waits' }, { all: true }, ['api']],
  ['all that wait, if others do not', { admin: 'idle', api: 'waits', web: 'waits' }, { all: true }, ['api', 'web']],
  ['the named ones', { admin: 'waits', api: 'waits', web: 'waits' }, { devs: ['api', 'web'] }, ['api', 'web']],
])('answerEmptied answers %s', async (_, running, input, expected) => {
  expect(await answer(running, input)).toEqual({ outcome: expected, told: expected })
})

test.each<[string, Readonly<Record<string, Up>>, object, string]>([
  ['none waits', { admin: 'idle', api: 'idle' }, { all: true }, 'no folder of `admin`, `api` waits for an answer'],
  [
    'names and `all` are given',
    { api: 'waits', web: 'waits' },
    { all: true, devs: ['api'] },
    '`--all` is for all development containers',
  ],
  [
    'a named one does not wait',
    { admin: 'idle', api: 'waits' },
    { devs: ['api', 'admin'] },
    'no folder of `admin` waits for an answer',
  ],
  ['the session ends', { api: 'ends' }, { devs: ['api'] }, '`devctl up api` has ended before it answered'],
  [
    'a named one is not active',
    { api: 'waits' },
    { devs: ['api', 'admin'] },
    '`admin` is not active here: no `devctl up` runs for it on this machine',
  ],
])('answerEmptied answers nothing and throws if %s', async (_, running, input, message) => {
  expect(await answer(running, input)).toEqual({ outcome: message, told: [] })
})
