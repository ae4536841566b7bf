import { execFile } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { write } from '../../support/cli/folder.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { program } from '../../support/program.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

const COMPOSE = `services:
  web:
    image: node:22-alpine
    command: ["node", "-e", "process.on('SIGTERM', () => process.exit()); setInterval(() => {}, 1000)"]
    stop_grace_period: 1s
  migrate:
    image: node:22-alpine
    command: ["true"]
    restart: "no"
`

describe.skipIf(cluster === undefined)('the habits of docker compose', () => {
  const namespace = `habits-${process.pid}`
  let folder = ''

  const devctl = (...words: readonly string[]) => {
    const at = words.indexOf('--')
    const own = ['--namespace', namespace, '--name', 'app']
    const all = at === -1 ? [...words, ...own] : [...words.slice(0, at), ...own, ...words.slice(at)]
    return new Promise<{ status: number; stdout: string; stderr: string }>(resolve => {
      const child = execFile(process.execPath, [program(), ...all], { cwd: folder }, (error, stdout, stderr) =>
        resolve({ status: error ? Number(error.code) : 0, stdout, stderr }),
      )
      child.stdin!.end()
    })
  }
  const succeed = async (...words: readonly string[]) => {
    const { status, stdout, stderr } = await devctl(...words)
    expect(status, stderr).toBe(0)
    return { stdout, stderr }
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'devctl-habits-'))
    write(folder, { 'compose.yaml': COMPOSE })
    await cluster!.createNamespace(namespace)
    await succeed('deploy', '--wait')
  })
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true })
    await cluster?.deleteNamespace(namespace)
    cluster?.close()
  })

  test('exec runs a command in a container of a deployed service', async () => {
    const { stdout } = await succeed('exec', '--service', 'web', '--', 'sh', '-c', 'echo "$0 $(hostname)"', 'from')
    expect(stdout).toMatch(/^from web-\w+/)
    expect(await devctl('exec', '-s', 'web', '--', 'sh', '-c', 'exit 7')).toMatchObject({ status: 7 })
    const missing = await devctl('exec', '-s', 'web', '--', 'no-such-program')
    expect(missing).toMatchObject({ status: 127, stderr: expect.stringContaining('`no-such-program` does not exist') })
    const text = await devctl('exec', '-s', 'web', '--', '/etc/passwd')
    expect(text).toMatchObject({ status: 126, stderr: expect.stringContaining('`/etc/passwd` is not executable') })
    const index = await devctl('exec', '-s', 'web', '--index', '2', '--', 'true')
    expect(index.stderr).toContain('`web` has no Pod number 2')
    const container = await devctl('exec', '-s', 'web', '--container', 'x', '--', 'true')
    expect(container.stderr).toContain('has no container `x`')
  })

  test('cp copies folders and files both ways', async () => {
    const source = join(folder, 'source')
    mkdirSync(join(source, 'deep'), { recursive: true })
    writeFileSync(join(source, 'run.sh'), '#!/bin/sh\necho here\n', { mode: 0o755 })
    writeFileSync(join(source, 'deep', 'large'), Buffer.alloc(20_000_000, 'x'))
    symlinkSync('../run.sh', join(source, 'deep', 'link'))
    await succeed('cp', './source', 'web:/tmp/copy')
    const { stdout } = await succeed('exec', '-s', 'web', '--', 'sh', '-c', '/tmp/copy/deep/link; stat -c %U /tmp/copy')
    expect(stdout).toBe('here\nroot\n')
    await succeed('exec', '-s', 'web', '--', 'ln', '-s', '/etc/passwd', '/tmp/copy/outside')
    const { stderr } = await succeed('cp', 'web:/tmp/copy', './back')
    expect(stderr).toContain('is left out: it is a link to `/etc/passwd`, outside the copy')
    expect(statSync(join(folder, 'back', 'run.sh')).mode & 0o777).toBe(0o755)
    expect(statSync(join(folder, 'back', 'deep', 'large')).size).toBe(20_000_000)
    expect(readlinkSync(join(folder, 'back', 'deep', 'link'))).toBe('../run.sh')
    await succeed('cp', './source/run.sh', 'web:/tmp/')
    await succeed('cp', 'web:/tmp/run.sh', './one')
    expect(readFileSync(join(folder, 'one'), 'utf8')).toBe('#!/bin/sh\necho here\n')
    const missing = await devctl('cp', 'web:/nothing', './x')
    expect(missing).toMatchObject({ status: 1, stderr: expect.stringContaining('cannot read all of `/nothing`') })
  })

  test('cp copies a single file without `tar`', async () => {
    await succeed('exec', '-s', 'web', '--', 'sh', '-c', 'mv $(which tar) /bin/not-tar; echo there >/tmp/file')
    await succeed('cp', 'web:/tmp/file', './without')
    expect(readFileSync(join(folder, 'without'), 'utf8')).toBe('there\n')
    await succeed('cp', './source/run.sh', 'web:/tmp/without')
    expect((await succeed('exec', '-s', 'web', '--', '/tmp/without')).stdout).toBe('here\n')
    expect((await devctl('cp', './source', 'web:/tmp/y')).stderr).toContain('has no `tar`')
    await succeed('exec', '-s', 'web', '--', 'mv', '/bin/not-tar', '/usr/bin/tar')
  })

  test('wait waits until all services are ready and Jobs are complete', async () => {
    expect((await succeed('wait')).stderr).toContain('migrate, web of app are ready')
    expect((await devctl('wait', 'other')).stderr).toContain('service `other` does not exist')
  })

  test('images lists the digests that run, and events what the cluster did', async () => {
    const [row] = JSON.parse((await succeed('images', 'web', '--output', 'json')).stdout)
    expect(row).toMatchObject({ service: 'web', image: 'node:22-alpine', digests: [expect.stringMatching(/^sha256:/)] })
    expect((await succeed('events')).stdout).toMatch(/Normal +pod\/web-\S+ +Started: /)
  })

  test('scale, stop, start and deploy change the number of Pods', async () => {
    const pods = async () => JSON.parse((await succeed('ps', 'web', '--output', 'json')).stdout)[0]
    const { stderr } = await succeed('scale', 'web=2')
    expect(stderr).toContain('web gets 2 replicas, after 1')
    expect(await pods()).toMatchObject({ pods: { wanted: 2 } })
    expect(await succeed('stop')).toMatchObject({ stderr: expect.stringContaining('left migrate alone') })
    expect(await pods()).toMatchObject({ state: 'stopped', pods: { wanted: 0 } })
    await succeed('start', 'web')
    expect(await pods()).toMatchObject({ pods: { wanted: 2 } })
    await succeed('stop', 'web')
    await succeed('deploy', '--wait', '--scale', 'web=2')
    expect(await pods()).toMatchObject({ state: 'ready', pods: { wanted: 2 } })
    await succeed('deploy', '-d')
    const before = await pods()
    expect(before).toMatchObject({ pods: { wanted: 1 } })
    await succeed('wait', 'web')
    const again = await succeed('deploy', '--no-deps', '--force-recreate', '--wait', 'web')
    expect(again.stderr).toContain('web is restarted')
    expect((await pods()).since).not.toBe(before.since)
  })
})
