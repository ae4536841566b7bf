import { join } from 'node:path'
import { expect, test } from 'vitest'
import { prepareMirror } from '../../../../develop/mirror/prepare-mirror.ts'
import { parseVariables } from '../../../../develop/select/environment.ts'
import { findDevelopment } from '../../../../develop/select/find-development.ts'
import { type ProgramOf, SessionProgram } from '../../../../develop/session/session-program.ts'
import type { UpContext } from '../../../../develop/up-input.ts'
import { openProject } from '../../../../project/open-project.ts'
import { makeFolder } from '../../../support/cli/folder.ts'
import { SUCCESS, startExecServer } from '../../../support/exec-server.ts'

/** Returns the access to a Pod in which each command prints these variables, as the `environ` of a process. */
const podWith = (variables: readonly string[]) =>
  startExecServer('v5.channel.k8s.io', socket => {
    socket.send(Buffer.from(`\x01${variables.map(one => `${one}\0`).join('')}`))
    socket.send(SUCCESS)
  })

test('a command on this machine receives the variables that the user has set for the container', async () => {
  const manifest = 'dev: {api: {mode: hybrid, command: serve, environment: {MODE: dev}, envFiles: [dev.env]}}\n'
  const cwd = makeFolder({ 'devctl.yml': manifest, 'dev.env': 'API_KEY=abc\nMODE=file\n' })
  const workspace = { cwd, env: { DEVCTL_HOME: join(cwd, '../home') }, readStdin: async () => new Uint8Array() }
  const { signal } = new AbortController()
  const access = await podWith(['API_KEY=abc', 'MODE=dev', 'LEVEL=debug', 'OF_CLUSTER=x'])
  const received: unknown[] = []
  const notes: string[] = []
  const world = {
    workspace,
    session: { namespace: 'shop', signal, cluster: {}, access },
    on: (event: { readonly type: string; readonly text?: string }) => event.type === 'note' && notes.push(event.text!),
    terminal: {
      runHere: async (_: unknown, { env }: { readonly env: unknown }) => {
        received.push(env)
        return 0
      },
    },
  } as unknown as UpContext
  const input = { dev: 'api', env: ['LEVEL=debug'] }
  const found = await findDevelopment(world, input, await openProject(workspace, {}))
  const prepared = await prepareMirror(world, input, found, {
    original: undefined,
    given: parseVariables(input.env, {}),
    rights: Promise.resolve({ exec: [], portForward: [] }),
  })
  const of = {
    input,
    found,
    prepared,
    signal,
    supervisor: { untilReady: async () => ({ pod: { metadata: { name: 'api-1' } } }) },
  }
  await new SessionProgram(world, of as unknown as ProgramOf).run()
  expect(received).toEqual([{ API_KEY: 'abc', MODE: 'dev', LEVEL: 'debug' }])
  expect(notes).toEqual([expect.stringContaining('others can change them: `OF_CLUSTER`;')])
})

test('restartNow does not wait for a container that is not connected', async () => {
  const of = {
    found: { development: { name: 'api', mode: 'sync' } },
    input: { command: ['serve'] },
    prepared: { runs: 'command' },
    supervisor: { ready: undefined, untilReady: () => new Promise(() => {}) },
  }
  const program = new SessionProgram({} as UpContext, of as unknown as ProgramOf)
  await expect(program.restartNow(new AbortController().signal)).rejects.toThrow(
    '`api` is not connected, so its program cannot be restarted',
  )
})
