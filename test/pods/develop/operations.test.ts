import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  answerEmptied,
  down,
  exec,
  type OperationEvent,
  openProject,
  openSession,
  outputTerminal,
  restartDevelopment,
  status,
  targetOf,
  UserError,
  up,
  upSeveral,
  workspaceOf,
} from '../../../api/operations.ts'
import { root } from '../../support/cases.ts'
import { write } from '../../support/cli/folder.ts'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'
import { longTest } from '../../support/takes-all.ts'
import { type DevelopmentPlace, openDevelopment } from './development.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

const dev = (name: string) => `  ${name}:
    autocreate: true
    image: node:22-alpine
    securityContext: {runAsUser: 1000}
    command: ["sh", "-c", "echo begins; sleep 300"]
    workdir: /app
    sync: ["./code:/app"]
`

describe.skipIf(cluster === undefined)('development with `devctl/operations`', () => {
  let place: DevelopmentPlace

  beforeAll(async () => {
    place = await openDevelopment(cluster!, 'programs')
    write(place.folder, { 'devctl.yml': `dev:\n${dev('api')}${dev('web')}`, 'code/one.txt': 'of this machine\n' })
  })
  afterAll(() => place?.close())

  const open = async () => {
    const control = new AbortController()
    const workspace = workspaceOf({ cwd: place.folder, env: { ...process.env, DEVCTL_HOME: place.home } })
    const project = await openProject(workspace, {})
    const target = targetOf(project, { namespace: place.namespace })
    const session = await openSession(workspace, target, { signal: control.signal })
    const events: OperationEvent[] = []
    const lines: string[] = []
    const terminal = outputTerminal((stream, text) => void lines.push(`${stream}: ${text}`))
    const world = { workspace, session, terminal, on: (event: OperationEvent) => void events.push(event) }
    /** Ends the operation with the test, which may fail before: another attempt then begins as the first did. */
    const untilFinished = <Outcome>(outcome: Promise<Outcome>) => {
      onTestFinished(async () => {
        control.abort(new Error('the test is over'))
        await outcome.catch(() => {})
      })
      return outcome
    }
    return { control, project, world, events, lines, untilFinished }
  }

  test('the example program runs a command and restores the original', async () => {
    const words = ['examples/program/develop.mjs', place.folder, place.namespace, 'api']
    const command = ['sh', '-c', 'cat one.txt; echo made > made.txt; echo wrong >&2; exit 7']
    const env = { ...process.env, DEVCTL_HOME: place.home }
    const { code, stdout } = await new Promise<{ code: unknown; stdout: string }>(resolve =>
      execFile(process.execPath, [...words, ...command], { cwd: root, env, timeout: 240_000 }, (error, stdout) =>
        resolve({ code: error?.code, stdout }),
      ),
    )
    expect(stdout).toContain('taken: deployment/api-dev\nin sync\n')
    expect(stdout).toContain('stdout: of this machine\n')
    expect(stdout).toContain('stderr: wrong\n')
    expect(stdout).toMatch(/ended\n$/)
    expect(code).toBe(7)
    expect(readFileSync(join(place.folder, 'code/made.txt'), 'utf8')).toBe('made\n')
  })

  longTest('a running `up` reports its state, restarts its command, and ends at `down`', async () => {
    const { project, world, events, lines, untilFinished } = await open()
    const ended = untilFinished(up(world, { dev: 'api' }, project))
    await eventually('it runs', async () => (lines.length > 0 ? true : undefined))
    // `status` without names reports the only active one.
    expect([...(await status(world, {}, project)).keys()]).toEqual(['api'])
    const reports = await status(world, { devs: ['api'] }, project)
    expect(reports.get('api')).toMatchObject({ state: 'ready', sync: { percent: 100 } })
    expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(['taken', 'ssh', 'sync']))

    writeFileSync(join(place.folder, 'code/two.txt'), 'two')
    await eventually('the file is there', async () =>
      (await exec(world, { dev: 'api', command: ['test', '-e', 'two.txt'] }, project)) === 0 ? true : undefined,
    )
    await expect(answerEmptied(world, { devs: ['api'], answer: 'delete' }, project)).rejects.toThrow(UserError)
    expect(await restartDevelopment(world, 'api')).toEqual({ services: [] })
    await eventually('it has begun again', async () => (lines.length > 1 ? true : undefined))
    expect(lines).toEqual(['stdout: begins', 'stdout: begins'])

    const [outcome] = await down(world, { devs: ['api'] }, project)
    expect(outcome).toEqual({ dev: 'api', wasActive: true, restored: undefined })
    expect(await ended).toMatchObject({ kind: 'stopped', dev: 'api' })
  })

  longTest('upSeveral ends one session at `down` and the others at the abort signal', async () => {
    const { control, project, world, untilFinished } = await open()
    const heard: string[] = []
    const on = (event: OperationEvent, name?: string) => {
      if (event.type === 'output') heard.push(`${name}: ${event.text}`)
      if (event.type === 'session-ended') heard.push(`${name}: ${event.end.kind}`)
    }
    const ended = untilFinished(upSeveral({ ...world, on }, { all: true, downOnExit: true }, project))
    const all = ['api: begins', 'web: begins']
    await eventually('both run', async () => (all.every(one => heard.includes(one)) ? true : undefined), {
      seconds: 270,
    })
    await down(world, { devs: ['web'] }, project)
    await eventually('one has ended', async () => (heard.includes('web: stopped') ? true : undefined))
    control.abort(new Error('enough'))
    await expect(ended).rejects.toThrow('enough')
    const { world: later } = await open()
    expect(await down(later, { all: true }, project)).toMatchObject([{ wasActive: false }, { wasActive: false }])
  })
})
