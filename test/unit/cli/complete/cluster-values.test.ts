import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { commands } from '../../../../cli/commands.ts'
import { answer } from '../../../../cli/complete/answer.ts'
import type { Io } from '../../../../cli/terminal/io.ts'
import { servePlatform } from '../../../support/cli/fake-platform.ts'
import { makeFolder, read } from '../../../support/cli/folder.ts'
import { run } from '../../../support/run.ts'

/** Serves an API server whose lists have these items, by path; other paths are forbidden. `hang` never answers. */
async function serveCluster(lists: Readonly<Record<string, readonly unknown[] | 'hang'>>) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    const items = lists[(request.url ?? '').replace(/\?.*/, '')]
    if (items === 'hang') return
    response.writeHead(items ? 200 : 403, { 'content-type': 'application/json' })
    response.end(JSON.stringify(items ? { metadata: {}, items } : { kind: 'Status', reason: 'Forbidden', code: 403 }))
  })
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

const kubeconfig = (servers: Readonly<Record<string, string>>, user: object = {}) =>
  JSON.stringify({
    'current-context': Object.keys(servers)[0],
    contexts: Object.keys(servers).map(name => ({ name, context: { cluster: name, user: 'u', namespace: 'shop' } })),
    clusters: Object.entries(servers).map(([name, server]) => ({ name, cluster: { server } })),
    users: [{ name: 'u', user }],
  })

/** Returns the values for the last argument of a line, without a short deadline: modules are loaded slowly here. */
async function values(line: string, cwd: string, env: Readonly<Record<string, string>> = {}) {
  let stdout = ''
  const io: Io = {
    stdout: { isTTY: false, write: text => (stdout += text) },
    stderr: { isTTY: false, write: text => expect.fail(text) },
    readStdin: async () => new Uint8Array(),
    env: { HOME: cwd, ...env },
    cwd,
  }
  expect(await answer(['fish', ...line.split(' ')], io, commands, 30_000)).toBe(0)
  return namesIn(stdout)
}

/** Does what `values` does, with the deadline of the program, and returns the seconds that it took, too. */
async function inTime(line: string, cwd: string, env: Readonly<Record<string, string>> = {}) {
  const began = performance.now()
  const { status, stdout, stderr } = await run(['__complete', 'fish', ...line.split(' ')], {
    cwd,
    env: { HOME: cwd, ...env },
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return { names: namesIn(stdout), seconds: (performance.now() - began) / 1000 }
}

const namesIn = (stdout: string) =>
  stdout
    .split('\n')
    .slice(1, -1)
    .map(one => one.replace(/\t.*/, ''))

const named = (...names: string[]) => names.map(name => ({ metadata: { name } }))
const record = (name: string) => ({
  metadata: { name: `devctl-${name}`, labels: { 'dev.platform/environment': name } },
})

describe('names in a cluster', () => {
  test('namespaces are those of the context that the line, the shell or the kubeconfig selects', async () => {
    const [dev, prod] = await Promise.all([
      serveCluster({ '/api/v1/namespaces': named('default', 'shop') }),
      serveCluster({ '/api/v1/namespaces': named('live') }),
    ])
    const cwd = makeFolder({
      '.kube/config': kubeconfig({ dev: dev.server, prod: prod.server }),
      'devctl.yml': 'environments: {production: {context: prod}, test: {}}\n',
    })
    const before = read(cwd)
    expect(await values('deploy --namespace ', cwd)).toEqual(['default', 'shop'])
    expect(await values('deploy -n ', cwd, { DEVCTL_CONTEXT: 'prod' })).toEqual(['live'])
    expect(await values('deploy --context prod --namespace=', cwd)).toEqual(['--namespace=live'])
    expect(await values('deploy --environment production -n ', cwd, { DEVCTL_CONTEXT: 'prod' })).toEqual(['live'])
    expect(await values('deploy --environment production --context prod -n ', cwd)).toEqual(['live'])
    expect(await values('deploy --environment test -n ', cwd)).toEqual(['default', 'shop'])
    expect(await values('namespace use ', cwd)).toEqual(['default', 'shop'])
    expect(await values('context use prod -n ', cwd)).toEqual(['live'])
    expect(await values('deploy --context missing -n ', cwd)).toEqual([])
    expect(read(cwd)).toEqual(before)
  })

  test('a context that only the manifest names is not asked', async () => {
    const [dev, prod] = await Promise.all([
      serveCluster({ '/api/v1/namespaces/live/configmaps': [record('dev')] }),
      serveCluster({ '/api/v1/namespaces/live/configmaps': [record('prod')] }),
    ])
    for (const manifest of [
      'context: prod\nnamespace: live\n',
      'environments: {e: {context: prod, namespace: live}}\n',
    ]) {
      const cwd = makeFolder({
        '.kube/config': kubeconfig({ dev: dev.server, prod: prod.server }),
        'devctl.yml': manifest,
      })
      expect(await values('logs --environment e --name ', cwd)).toEqual([])
      expect([...dev.asked, ...prod.asked]).toEqual([])
      expect(await values('logs --environment e --context prod --name ', cwd)).toEqual(['prod'])
      expect(await values('logs --environment e --name ', cwd, { DEVCTL_CONTEXT: 'prod' })).toEqual(['prod'])
      expect(prod.asked.splice(0)).toHaveLength(2)
    }
  })

  test('environments are those that are deployed in the namespace', async () => {
    const { server, asked } = await serveCluster({
      '/api/v1/namespaces/shop/configmaps': [record('shop'), { metadata: { name: 'x', labels: {} } }],
      '/api/v1/namespaces/other/configmaps': [record('blog')],
    })
    const cwd = makeFolder({ '.kube/config': kubeconfig({ dev: server }) })
    expect(await values('ps --name ', cwd)).toEqual(['shop'])
    expect(await values('destroy -n other --name ', cwd)).toEqual(['blog'])
    expect(asked).toHaveLength(2)
    expect(await values('render --name ', cwd)).toEqual([])
    expect(asked).toHaveLength(2)
  })

  test('a cluster that refuses, fails or does not answer offers nothing, within a second', async () => {
    const silent = await serveCluster({ '/api/v1/namespaces': 'hang' })
    const refusing = await serveCluster({})
    for (const server of [silent.server, refusing.server, 'http://127.0.0.1:9', 'nonsense']) {
      const cwd = makeFolder({ '.kube/config': kubeconfig({ dev: server }) })
      const { names, seconds } = await inTime('deploy -n ', cwd)
      expect(names).toEqual([])
      expect(seconds).toBeLessThan(3)
    }
  })

  test('a credential plugin cannot prompt or print, and its time is limited', async () => {
    const { server } = await serveCluster({ '/api/v1/namespaces': named('shop') })
    const plugin = (script: string) => ({
      exec: {
        apiVersion: 'client.authentication.k8s.io/v1',
        command: 'sh',
        args: ['-c', script],
        interactiveMode: 'IfAvailable',
      },
    })
    const credential = '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"t"}}'
    const folder = (script: string) => makeFolder({ '.kube/config': kubeconfig({ dev: server }, plugin(script)) })
    const env = { PATH: process.env.PATH! }
    expect(await values('deploy -n ', folder(`echo loud >&2; echo '${credential}'`), env)).toEqual(['shop'])
    expect(await values('deploy -n ', folder('echo loud >&2; exit 1'), env)).toEqual([])
    const { names, seconds } = await inTime('deploy -n ', folder('trap "" TERM; sleep 5'), env)
    expect(names).toEqual([])
    expect(seconds).toBeLessThan(3)
  })
})

describe('names on a platform', () => {
  test('namespaces, environments, runs and previews are those that the platform lists', async () => {
    const { url, asked } = await servePlatform({
      'GET /namespaces': { items: [{ name: 'ann' }, { name: 'shop' }] },
      'GET /namespaces/shop/environments': { items: [{ name: 'web' }] },
      'GET /runs': { items: [{ environment: 'web' }, { environment: 'blog' }, { environment: 'web' }] },
      'GET /previews': { items: [{ name: 'shop-pr-7', branch: 'topic' }] },
    })
    const stored = { current: url, contexts: { [url]: { token: 'TOKEN', namespace: 'shop' } } }
    const cwd = makeFolder({ '.devctl/contexts.json': JSON.stringify(stored) })
    const before = read(cwd)
    expect(await values('namespace delete ', cwd)).toEqual(['ann', 'shop'])
    expect(await values('namespace create ', cwd)).toEqual([])
    expect(await values('ps --name ', cwd)).toEqual(['web'])
    expect(await values('pipeline logs --name ', cwd)).toEqual(['web', 'blog'])
    expect(await values('preview approve ', cwd)).toEqual(['shop-pr-7'])
    expect(await values('deploy --context ', cwd)).toEqual([url])
    expect(read(cwd)).toEqual(before)
    // Commands are counted for a platform, completions are not.
    expect(asked.filter(call => call.startsWith('POST'))).toEqual([])
  })

  test('a platform that refuses or does not answer offers nothing', async () => {
    const { url } = await servePlatform()
    for (const address of [url, 'http://127.0.0.1:9']) {
      const stored = { current: address, contexts: { [address]: { token: 'TOKEN', namespace: 'shop' } } }
      const cwd = makeFolder({ [join('.devctl', 'contexts.json')]: JSON.stringify(stored) })
      for (const line of ['namespace use ', 'ps --name ', 'pipeline logs --name ', 'preview approve '])
        expect(await values(line, cwd)).toEqual([])
    }
  })
})
