import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, closeSync, constants, existsSync, openSync } from 'node:fs'
import { delimiter } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { pause } from '../../../adapters/http/back-off.ts'
import { findBuildkit, findEngineAddress } from '../../support/buildkit/buildkit.ts'
import { type SlowProject, slowProject } from '../../support/buildkit/slow-project.ts'
import { makeFolder, write } from '../../support/cli/folder.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { withProject } from '../../support/cluster/project.ts'
import { signal } from '../../support/git/processes.ts'
import { program } from '../../support/program.ts'
import { fakeServer } from '../../support/registry/fake-registry.ts'
import { few, longTest } from '../../support/takes-all.ts'
import { expectNothingRuns, runsSteps } from './left.ts'

const buildkit = findBuildkit() ?? ''
const engine = findEngineAddress() ?? ''
const found = buildkit === '' ? undefined : findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined
afterAll(() => cluster?.close())

/** Milliseconds within which an interrupted build ends on a busy machine: the steps take a minute. */
const AT_ONCE = 15_000

describe.skipIf(buildkit === '' && engine === '')('interrupted builds', () => {
  const cases = [
    ['BuildKit', 'SIGINT', buildkit],
    ['a Docker Engine', 'SIGTERM', engine],
    ['BuildKit', 'SIGTERM', buildkit],
    ['a Docker Engine', 'SIGINT', engine],
  ] as const
  const possible = few(cases, 2).filter(([, , address]) => address !== '')
  test.each(possible)('a build in %s ends at %s and is cancelled on the builder', async (_, name, address) => {
    const project = slowProject({ address, seconds: 60 })
    const before = project.onDisk()
    const { pid, ended } = project.start('build')
    await runsSteps(project)
    const began = performance.now()
    signal(pid, name)
    const { status, stdout, stderr } = await ended
    expect(performance.now() - began).toBeLessThan(AT_ONCE)
    expect({ status, stdout }).toEqual({ status: 130, stdout: '' })
    expect(stderr).toMatch(/\ninterrupted\n$/)
    expect(stderr).not.toMatch(/error|retry|tried/)
    await expectNothingRuns(address, project.mark)
    expect(project.onDisk()).toEqual(before)
  })
})

describe.skipIf(buildkit === '')('builds with BuildKit', () => {
  test('a build at Ctrl-C restores the terminal', async () => {
    const project = slowProject({ address: buildkit, seconds: 60 })
    const terminal = onTerminal(project, 'build')
    await runsSteps(project)
    await vi.waitFor(() => expect(terminal.written()).toContain(HIDE_CURSOR), 60_000)
    terminal.type('\u0003')
    expect(await terminal.ended).toBe(130)
    const written = terminal.written()
    expect(written.lastIndexOf(SHOW_CURSOR)).toBeGreaterThan(written.lastIndexOf(HIDE_CURSOR))
    expect(written).toMatch(/interrupted\r\n$/)
    await expectNothingRuns(buildkit, project.mark)
  })

  longTest('a build ends at Ctrl-C while a registry does not answer', async () => {
    const registry = await fakeServer(() => new Promise<void>(() => {}))
    const project = slowProject({ address: buildkit, seconds: 60, registry: registry.host })
    const { pid, ended } = project.start('build')
    await vi.waitFor(() => expect(registry.requests.length).toBeGreaterThan(0), 60_000)
    const began = performance.now()
    signal(pid, 'SIGINT')
    expect(await ended).toMatchObject({ status: 130, stderr: expect.stringMatching(/interrupted\n$/) })
    expect(performance.now() - began).toBeLessThan(AT_ONCE)
  })

  longTest('a build ends at a second Ctrl-C without waiting for a credential helper', async () => {
    const registry = await fakeServer((_, response) => {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="test"' }).end()
    })
    // This credential helper ignores the signals to end.
    const helpers = makeFolder()
    write(helpers, {
      'config.json': JSON.stringify({ credHelpers: { [registry.host]: 'slow' } }),
      'docker-credential-slow': `#!/bin/sh\ntrap '' INT TERM\n: >${helpers}/asked\nsleep 15\n`,
    })
    chmodSync(`${helpers}/docker-credential-slow`, 0o755)
    const env = { DOCKER_CONFIG: helpers, PATH: `${helpers}${delimiter}${process.env.PATH}` }
    const project = slowProject({ address: buildkit, seconds: 60, registry: registry.host, env })
    const { pid, ended } = project.start('build')
    await vi.waitFor(() => expect(existsSync(`${helpers}/asked`)).toBe(true), 60_000)
    const began = performance.now()
    signal(pid, 'SIGINT')
    // A second signal that comes sooner counts as the same key press, sent by the terminal and another program.
    await pause(700, undefined)
    signal(pid, 'SIGINT')
    expect(await ended).toMatchObject({ status: 130 })
    expect(performance.now() - began).toBeLessThan(8000)
  })

  longTest('a build ends at Ctrl-C while a secret is a pipe without a writer', async () => {
    const project = slowProject({ address: buildkit, seconds: 60 })
    const pipe = `${project.folder}/pipe`
    execFileSync('mkfifo', [pipe])
    const { pid, ended } = project.start('build', '--secret', `id=token,src=${pipe}`)
    // Opening the FIFO for writing succeeds once devctl reads from it.
    const open = () => openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK)
    const writer = await vi.waitFor(open, { timeout: 60_000, interval: 100 })
    onTestFinished(() => closeSync(writer))
    const began = performance.now()
    signal(pid, 'SIGINT')
    expect(await ended).toMatchObject({ status: 130, stderr: expect.stringMatching(/interrupted\n$/) })
    expect(performance.now() - began).toBeLessThan(AT_ONCE)
    await expectNothingRuns(buildkit, project.mark)
  })

  longTest('a build ends at its time limit and is cancelled on the builder', async () => {
    const project = slowProject({ address: buildkit, seconds: 60 })
    const { status, stderr } = await project.start('build', '--timeout', '3s').ended
    expect(status).toBe(1)
    expect(stderr).toContain('error: not done within 3.0 s')
    expect(stderr).toContain('what was built stays in the cache of the builder')
    await expectNothingRuns(buildkit, project.mark)
  })
})

describe.skipIf(cluster === undefined)('interrupted deploys', () => {
  test('a deploy that is interrupted during its build deploys nothing', () =>
    withProject(cluster!, async ({ name, kubectl }) => {
      const env = { KUBECONFIG: process.env.KUBECONFIG ?? '' }
      const project = slowProject({ address: buildkit, seconds: 60, env })
      const { pid, ended } = project.start('deploy', '--name', name, '--namespace', name)
      await runsSteps(project)
      const began = performance.now()
      signal(pid, 'SIGINT')
      const { status, stderr } = await ended
      expect(performance.now() - began).toBeLessThan(AT_ONCE)
      expect(status).toBe(130)
      expect(stderr).toMatch(/\ninterrupted\n$/)
      await expectNothingRuns(buildkit, project.mark)
      expect(await kubectl('get', 'all,secrets,configmaps', '--output=name')).not.toContain('web')
    }))
})

const HIDE_CURSOR = '\u001b[?25l'
const SHOW_CURSOR = '\u001b[?25h'

/** Starts the program on a separate terminal. */
function onTerminal({ folder, env }: SlowProject, ...words: readonly string[]) {
  const command = [process.execPath, program(), ...words].map(word => `'${word}'`).join(' ')
  const child = spawn('script', ['--quiet', '--return', '--flush', '--command', command, '/dev/null'], {
    cwd: folder,
    env: { ...env(), TERM: 'xterm-256color' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let written = ''
  child.stdout.setEncoding('utf8').on('data', text => {
    written += text
  })
  return {
    written: () => written,
    type: (text: string) => child.stdin.write(text),
    ended: new Promise<number | null>((resolve, reject) => {
      child.on('error', reject)
      child.on('close', resolve)
    }),
  }
}
