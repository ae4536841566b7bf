import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { findProgram } from '../../../adapters/process/find-program.ts'
import { root } from '../../support/cases.ts'
import { openPlatform, type Person, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { run } from '../../support/run.ts'

// Tests kubectl and devctl with a kubeconfig that `devctl kubeconfig` has written for a platform.

/** The PATH of this machine, then the programs of the test cluster, which include kubectl. */
const PATH = [process.env.PATH, ...(process.env.KUBECONFIG ? [join(dirname(process.env.KUBECONFIG), 'bin')] : [])].join(
  delimiter,
)
const hasKubectl = findProgram('kubectl', { PATH }) !== undefined

describe.skipIf(!process.env.KUBECONFIG)('devctl kubeconfig on a platform', () => {
  let platform: TestPlatform
  let ann: Person
  let url: string
  let name: string
  const folder = mkdtempSync(join(tmpdir(), 'devctl-kubeconfig-'))
  const file = join(folder, 'kube/config')
  // kubectl starts the plugin as a program.
  const path = `${join(folder, 'bin')}${delimiter}${PATH}`
  const env = { HOME: folder, DEVCTL_HOME: join(folder, 'home'), KUBECONFIG: file, PATH: path }

  beforeAll(async () => {
    platform = await openPlatform()
    ann = await platform.person('ann')
    url = await platform.app.listen({ port: 0, host: '127.0.0.1' })
    name = new URL(url).host.replaceAll(/[.:]/g, '_')
    mkdirSync(join(folder, 'bin'))
    const script = `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'bin/devctl.cjs')}' "$@"\n`
    writeFileSync(join(folder, 'bin/devctl'), script)
    chmodSync(join(folder, 'bin/devctl'), 0o755)
  })
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true })
    await platform?.close()
  })

  const devctl = (line: string, more: Readonly<Record<string, string>> = {}) =>
    run(line.split(' '), { cwd: folder, env: { ...env, ...more } })

  test('devctl kubeconfig adds the cluster and a plugin to the file, and no token', async () => {
    mkdirSync(join(folder, 'kube'))
    writeFileSync(file, '# mine\nclusters: []\nusers:\n- name: kind # local\n  user: {token: abc}\n')
    chmodSync(file, 0o640)
    expect(await devctl(`context use ${url} --token ${ann.token}`)).toMatchObject({ status: 0 })
    expect(await devctl('kubeconfig')).toEqual({
      status: 0,
      stdout: `Updated Kubernetes context '${name}', namespace '${ann.home}', in '${file}'\n`,
      stderr: '',
    })
    const text = readFileSync(file, 'utf8')
    expect(text).toContain('# mine')
    expect(text).toContain('- name: kind # local')
    expect(text).not.toContain(ann.token)
    expect(text).not.toContain('eyJ')
    expect(statSync(file).mode & 0o777).toBe(0o640)
    const { users, clusters, 'current-context': current } = parse(text)
    expect(current).toBe(name)
    expect(clusters[0].cluster.server).toBe(platform.world.settings.kubernetes.server)
    expect(users[1].user.exec).toMatchObject({
      command: 'devctl',
      args: ['kubeconfig', '--exec-credential', '--context', url],
      env: [{ name: 'DEVCTL_HOME', value: join(folder, 'home') }],
      interactiveMode: 'Never',
    })
    const listed = await devctl('context list --output name')
    expect(listed.stdout.trim().split('\n')).toEqual([url])
  })

  test('devctl kubeconfig replaces only its own entries, with another namespace', async () => {
    expect((await devctl('kubeconfig --namespace other')).status).toBe(0)
    const { users, clusters, contexts } = parse(readFileSync(file, 'utf8'))
    expect([users.length, clusters.length, contexts.length]).toEqual([2, 1, 1])
    expect(contexts[0].context.namespace).toBe('other')
    expect((await devctl('kubeconfig')).status).toBe(0)
  })

  test('the plugin prints the stored token until it expires', async () => {
    const credential = async () => JSON.parse((await devctl(`kubeconfig --exec-credential --context ${url}`)).stdout)
    const first = await credential()
    expect(first).toMatchObject({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential' })
    const before = platform.requests
    expect(await credential()).toEqual(first)
    expect(platform.requests).toBe(before)
    const stored = join(folder, 'home/contexts.json')
    const content = JSON.parse(readFileSync(stored, 'utf8'))
    content.contexts[url].kubeToken.expires = new Date(Date.now() + 30_000).toISOString()
    writeFileSync(stored, JSON.stringify(content))
    const next = await credential()
    expect(next.status.token).not.toBe(first.status.token)
    expect(Date.parse(next.status.expirationTimestamp)).toBeGreaterThan(Date.now() + 60_000)
  })

  test.skipIf(!hasKubectl)('kubectl has the rights of the user, and no others', async () => {
    const kubectl = (...words: string[]) => promisify(execFile)('kubectl', words, { env, timeout: 60_000 })
    await kubectl('create', 'configmap', `by-kubectl-${RUN}`)
    const made = { apiVersion: 'v1', kind: 'ConfigMap', name: `by-kubectl-${RUN}`, namespace: ann.home }
    expect(await platform.cluster.get(made)).toBeDefined()
    const who = `User "system:serviceaccount:devctl-users:u-${ann.id}" cannot`
    await expect(kubectl('get', 'secrets', '--namespace', 'devctl-platform')).rejects.toThrow(
      new RegExp(`forbidden: ${who}`),
    )
  })

  test('devctl uses the plugin, too, if the context of the kubeconfig is named', async () => {
    const { status, stderr } = await devctl(`ps --context ${name} --name nothing-${RUN}`)
    expect(stderr).not.toContain('credentials')
    expect([status, stderr]).toEqual([expect.any(Number), expect.stringContaining(`nothing-${RUN}`)])
  })

  test('devctl kubeconfig reports a login that has ended, and writes nothing', async () => {
    const before = readFileSync(file, 'utf8')
    const more = { DEVCTL_URL: url, DEVCTL_TOKEN: 'devctl_api_wrong' }
    expect(await devctl('kubeconfig', more)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('the platform does not accept the token of `DEVCTL_TOKEN`'),
    })
    expect(readFileSync(file, 'utf8')).toBe(before)
  })

  test('devctl kubeconfig with a token of the environment selects the home namespace', async () => {
    const other = { DEVCTL_HOME: join(folder, 'empty'), DEVCTL_URL: url, DEVCTL_TOKEN: ann.token }
    const { status, stdout, stderr } = await devctl('kubeconfig', other)
    expect([status, stdout]).toEqual([
      0,
      `Updated Kubernetes context '${name}', namespace '${ann.home}', in '${file}'\n`,
    ])
    expect(stderr).toContain('kubectl needs `DEVCTL_URL` and `DEVCTL_TOKEN`, too')
    expect((await devctl('variables list', other)).status).toBe(0)
  })

  test('devctl kubeconfig does not replace a context of the same name by another program', async () => {
    const own = join(folder, 'own')
    writeFileSync(own, `contexts:\n- name: ${name}\n  context: {cluster: kind, user: kind}\n`)
    const { status, stderr } = await devctl('kubeconfig', { KUBECONFIG: own })
    expect([status, stderr]).toEqual([1, expect.stringContaining('which is not a devctl platform')])
  })
})
