import { existsSync, readFileSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { dirname } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  type LabellingProxy,
  startLabellingProxy,
  type WrittenKind,
} from '../../../../../adapters/kubernetes/labelling-proxy/labelling-proxy.ts'
import { ENVIRONMENT_LABEL } from '../../../../../adapters/kubernetes/labelling-proxy/labels.ts'
import { labelBinary, parseBinary } from '../../../../../adapters/kubernetes/labelling-proxy/protobuf.ts'
import { ENVIRONMENT_LABEL as OF_ENVIRONMENT } from '../../../../../environment/labels.ts'
import { ApiServer, type Sent, send } from './api-server.ts'

let api: ApiServer
let proxy: LabellingProxy
let remember: (kind: WrittenKind) => Promise<void>

beforeEach(async () => {
  api = new ApiServer()
  await api.listen()
  remember = async () => {}
  proxy = await startLabellingProxy({
    access: api.access,
    environment: 'shop',
    namespace: 'team',
    remember: kind => remember(kind),
  })
})
afterEach(async () => {
  await proxy.close()
  api.close()
})

const label = { 'dev.platform/environment': 'shop' }
const origin = { 'dev.platform/origin': 'command' }
const other = { metadata: { name: 'a', labels: { 'dev.platform/environment': 'blog' } } }
const configMaps = '/api/v1/namespaces/team/configmaps'
const deployments = '/apis/apps/v1/namespaces/team/deployments'
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', labels: { app: 'web' } },
  spec: { selector: { matchLabels: { app: 'web' } }, template: { metadata: { labels: { app: 'web' } }, spec: {} } },
}
const APPLY = 'application/apply-patch+yaml'
const MERGE = 'application/merge-patch+json'
const STRATEGIC = 'application/strategic-merge-patch+json'

/** Sends a request through the proxy, and returns the body that the real server is sent instead. */
async function written(path: string, sent: Sent) {
  const { status, body } = await send(proxy, path, sent)
  expect([status, status === 200 ? '' : body]).toEqual([200, ''])
  return JSON.parse(api.writes.at(-1)!.body.toString('utf8'))
}

test('the label is the one that deploy and destroy use', () => {
  expect(ENVIRONMENT_LABEL).toBe(OF_ENVIRONMENT)
})

describe('access to the proxy', () => {
  test.each(['', 'wrong', 'real-0'])('the proxy refuses the token `%s`', async token => {
    const { status, body } = await send(proxy, '/api', { token })
    expect(status).toBe(401)
    expect(JSON.parse(body)).toMatchObject({ kind: 'Status', reason: 'Unauthorized', code: 401 })
    expect(api.received).toEqual([])
    expect(body).not.toContain(proxy.secrets[0])
  })

  test('the proxy refuses a wrong token for exec, too', async () => {
    const { status } = await send(proxy, '/api/v1/namespaces/team/pods/a/exec', {
      token: 'wrong',
      headers: { connection: 'Upgrade', upgrade: 'websocket' },
    })
    expect(status).toBe(401)
  })

  test('the proxy accepts no connection from another machine', async () => {
    const addresses = Object.values(networkInterfaces())
      .flat()
      .filter(one => one && !one.internal && one.family === 'IPv4')
    for (const { address } of ['127.0.0.2', ...addresses.map(one => one!.address)].map(address => ({ address }))) {
      const code = await new Promise(resolve => {
        const socket = connect(proxy.port, address, () => resolve('connected'))
        socket.on('error', error => resolve((error as NodeJS.ErrnoException).code))
        socket.setTimeout(2_000, () => resolve('nothing'))
      })
      expect(code, address).not.toBe('connected')
    }
  })

  test('the kubeconfig is private, has no credentials of the cluster, and is deleted at the end', async () => {
    const file = proxy.variables['KUBECONFIG']!
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(file)).mode & 0o777).toBe(0o700)
    const text = readFileSync(file, 'utf8')
    expect(text).not.toContain('real-')
    expect(JSON.parse(text)).toMatchObject({
      'current-context': 'kind-dev',
      contexts: [{ name: 'kind-dev', context: { namespace: 'team' } }],
    })
    await proxy.close()
    expect(existsSync(dirname(file))).toBe(false)
  })
})

describe('requests through the proxy', () => {
  test('path, query and headers pass with the credentials of the user instead of the token', async () => {
    await send(proxy, '/api/v1/pods?labelSelector=a%3Db', { headers: { accept: 'application/json', 'x-own': '1' } })
    const [{ url, headers }] = api.received as [(typeof api.received)[0]]
    expect(url).toBe('/base/api/v1/pods?labelSelector=a%3Db')
    expect(headers).toMatchObject({
      authorization: 'Bearer real-0',
      accept: 'application/json',
      'x-own': '1',
      'impersonate-user': 'ann',
    })
    expect(JSON.stringify(headers)).not.toContain(proxy.secrets[0])
  })

  test('`--as` of a command wins over the impersonation of the context', async () => {
    await send(proxy, '/api', { headers: { 'Impersonate-User': 'eve', 'Impersonate-Group': ['g', 'h'] } })
    expect(api.received[0]!.distinct).toMatchObject({ 'impersonate-user': ['eve'], 'impersonate-group': ['g', 'h'] })
  })

  test('compressed responses and warnings pass unchanged', async () => {
    api.answer = (_, response) => {
      response.writeHead(200, ['content-encoding', 'gzip', 'Warning', '299 - "a"', 'Warning', '299 - "b"'])
      response.end(gzipSync('{"a":1}'))
      return true
    }
    const { headers, bytes } = await send(proxy, '/api')
    expect(headers['warning']).toBe('299 - "a", 299 - "b"')
    expect(headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(bytes).toString()).toBe('{"a":1}')
  })

  test('the head of a watch passes before the first event', async () => {
    let end = () => {}
    api.answer = (_, response) => {
      response.writeHead(200)
      response.flushHeaders()
      end = () => response.end('{"type":"ADDED"}\n')
      return true
    }
    const pending = send(proxy, `${configMaps}?watch=true`)
    // The response ends only after its head got through.
    while (api.received.length === 0) await new Promise(resolve => setImmediate(resolve))
    end()
    expect((await pending).body).toBe('{"type":"ADDED"}\n')
  })

  test('refused credentials are renewed once', async () => {
    api.answer = ({ headers }, response) => {
      if (headers.authorization === 'Bearer real-1') return false
      response.writeHead(401).end('{}')
      return true
    }
    expect((await send(proxy, configMaps, { body: configMap })).status).toBe(200)
    api.answer = (_, response) => {
      response.writeHead(401).end('{}')
      return true
    }
    expect((await send(proxy, '/api')).status).toBe(401)
    expect(api.renewals).toBe(2)
  })

  test('an unreachable server is reported in a Status', async () => {
    api.close()
    const { status, body } = await send(proxy, '/api')
    expect(status).toBe(503)
    expect(JSON.parse(body).message).toMatch(/^nothing listens at/)
  })

  test('a body of more than 8 MiB is refused', async () => {
    const body = { ...configMap, data: { a: 'x'.repeat(9 << 20) } }
    expect((await send(proxy, configMaps, { body }).catch(() => ({ status: 413 }))).status).toBe(413)
  })
})

describe('labels', () => {
  test('created objects and their Pods get the label, and selectors do not', async () => {
    const object = await written(deployments, { body: deployment })
    expect(object).toEqual({
      ...deployment,
      metadata: { name: 'web', labels: { app: 'web', ...label }, annotations: origin },
      spec: { ...deployment.spec, template: { metadata: { labels: { app: 'web', ...label } }, spec: {} } },
    })
  })

  test.each([
    ['/apis/apps/v1/namespaces/team/statefulsets', 'StatefulSet'],
    ['/apis/apps/v1/namespaces/team/daemonsets', 'DaemonSet'],
    ['/apis/apps/v1/namespaces/team/replicasets', 'ReplicaSet'],
    ['/apis/batch/v1/namespaces/team/jobs', 'Job'],
  ])('the Pods of %s get the label', async (path, kind) => {
    const object = await written(path, { body: { ...deployment, kind } })
    expect(object.spec.template.metadata.labels).toEqual({ app: 'web', ...label })
    expect(object.spec.selector).toEqual(deployment.spec.selector)
  })

  test('the Pods of a CronJob get the label, those of a ReplicationController only with a selector', async () => {
    const cron = { kind: 'CronJob', metadata: {}, spec: { jobTemplate: { spec: { template: { spec: {} } } } } }
    const made = await written('/apis/batch/v1/namespaces/team/cronjobs', { body: cron })
    expect(made.spec.jobTemplate.spec.template.metadata.labels).toEqual(label)
    const rc = { kind: 'ReplicationController', metadata: {}, spec: { template: { metadata: { labels: { a: 'b' } } } } }
    const controllers = '/api/v1/namespaces/team/replicationcontrollers'
    expect((await written(controllers, { body: rc })).spec.template.metadata.labels).toEqual({ a: 'b' })
    const selecting = { ...rc, spec: { ...rc.spec, selector: { a: 'b' } } }
    expect((await written(controllers, { body: selecting })).spec.template.metadata.labels).toEqual({
      a: 'b',
      ...label,
    })
  })

  test('replaced and applied objects get the label, also as YAML of version 1.1', async () => {
    api.objects.set(`/base${configMaps}/a`, configMap)
    expect((await written(`${configMaps}/a`, { method: 'PUT', body: configMap })).metadata.labels).toEqual(label)
    const yaml = 'kind: ConfigMap\nmetadata: {name: a}\nx: [yes, 0755]\n'
    expect(await written(`${configMaps}/a?fieldManager=x`, { method: 'PATCH', type: APPLY, body: yaml })).toEqual({
      kind: 'ConfigMap',
      metadata: { name: 'a', labels: label, annotations: origin },
      x: [true, 493],
    })
  })

  test('numbers stay as they were written', async () => {
    const body =
      '{"kind":"Big","metadata":{},"spec":{"a":9007199254740993,"b":1.0,"c":1e400,"d":"12345678901234567890","e":-1}}'
    await written('/apis/example.com/v1/namespaces/team/bigs', { body }).catch(() => {})
    const sent = api.writes[0]!.body.toString('utf8')
    expect(sent).toContain('"spec":{"a":9007199254740993,"b":1.0,"c":1e400,"d":"12345678901234567890","e":-1}')
  })

  test('objects outside the namespace have a label with the namespace of the environment', async () => {
    const home = { ...label, 'dev.platform/environment-namespace': 'team' }
    expect(
      (await written('/api/v1/namespaces', { body: { kind: 'Namespace', metadata: { name: 'x' } } })).metadata.labels,
    ).toEqual(home)
    expect((await written('/api/v1/namespaces/x/configmaps', { body: configMap })).metadata.labels).toEqual(home)
    expect(proxy.written()).toEqual([
      { apiVersion: 'v1', kind: 'Namespace', namespace: null },
      { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'x' },
    ])
  })

  test.each([
    ['events', '/api/v1/namespaces/team/events', 'POST'],
    ['leases', '/apis/coordination.k8s.io/v1/namespaces/team/leases', 'POST'],
    ['questions', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', 'POST'],
    ['tokens', '/apis/authentication.k8s.io/v1/tokenreviews', 'POST'],
    ['subresources', '/api/v1/namespaces/team/pods/a/eviction', 'POST'],
    ['the status', '/apis/apps/v1/namespaces/team/deployments/a/status', 'PUT'],
    ['the end of a namespace', '/api/v1/namespaces/team/finalize', 'PUT'],
    ['the standard account', '/api/v1/namespaces/team/serviceaccounts/default', 'PUT'],
    ['lists', configMaps, 'POST'],
    ['what is no JSON', configMaps, 'POST'],
  ])('requests for %s pass without a label', async (what, path, method) => {
    const body =
      what === 'what is no JSON'
        ? '{"a"'
        : what === 'lists'
          ? { kind: 'List', items: [configMap] }
          : { kind: 'X', metadata: {} }
    await send(proxy, path, { method, body })
    expect(api.writes[0]!.body.toString()).toBe(typeof body === 'string' ? body : JSON.stringify(body))
    expect(proxy.written()).toEqual([])
  })

  test('requests of a devctl within a command pass without a label', async () => {
    expect(await written(configMaps, { body: other, headers: { 'user-agent': 'devctl' } })).toEqual(other)
  })

  test('a dry run returns the label, and is not recorded', async () => {
    expect((await written(`${configMaps}?dryRun=All`, { body: configMap })).metadata.labels).toEqual(label)
    expect(proxy.written()).toEqual([])
  })

  test('CBOR is refused, so that clients send JSON', async () => {
    expect((await send(proxy, configMaps, { body: 'x', type: 'application/cbor' })).status).toBe(415)
  })
})

describe('the binary notation', () => {
  // The message has kind: Deployment, metadata.name, a label, spec.replicas and spec.template.metadata.labels.
  const field = (number: number, ...parts: (Buffer | string)[]): Buffer => {
    const content = Buffer.concat(parts.map(part => Buffer.from(part as string)))
    return Buffer.concat([Buffer.from([number * 8 + 2, content.length]), content])
  }
  const binary = (kind: string, ...labels: Buffer[]) =>
    Buffer.concat([
      Buffer.from('k8s\0'),
      field(1, field(1, 'apps/v1'), field(2, kind)),
      field(2, field(1, field(1, 'web'), ...labels), field(2, Buffer.from([8, 1]))),
      field(3, ''),
    ])
  const type = 'application/vnd.kubernetes.protobuf'

  test('an object in the binary notation is labeled, too', async () => {
    const { status } = await send(proxy, deployments, {
      body: binary('Deployment', field(11, field(1, 'app'), field(2, 'web'))),
      type,
    })
    expect(status).toBe(200)
    const sent = parseBinary(api.writes[0]!.body)!
    expect(sent).toMatchObject({ apiVersion: 'apps/v1', kind: 'Deployment', labels: { app: 'web', ...label } })
    const text = sent.content.toString('latin1')
    expect(text.split('dev.platform/environment').length - 1).toBe(2)
    expect(text).toContain('dev.platform/origin')
    expect(proxy.written()).toEqual([{ apiVersion: 'apps/v1', kind: 'Deployment' }])
  })

  test('an object of another environment in the binary notation is refused', async () => {
    const foreign = binary('Deployment', field(11, field(1, 'dev.platform/environment'), field(2, 'blog')))
    expect((await send(proxy, deployments, { body: foreign, type })).status).toBe(403)
  })

  test('a truncated object in the binary notation passes unchanged', async () => {
    const whole = binary('Deployment')
    for (let length = 0; length < whole.length; length++)
      expect(() => parseBinary(whole.subarray(0, length))).not.toThrow()
    await send(proxy, deployments, { body: whole.subarray(0, 30), type })
    expect(api.writes[0]!.body).toEqual(whole.subarray(0, 30))
    expect(labelBinary(parseBinary(whole)!, label, false).length).toBeGreaterThan(whole.length)
  })
})

describe('patches', () => {
  const applied = '?fieldManager=kubectl-client-side-apply'

  test('patches of `kubectl apply` and `helm upgrade` add the label, to Pods only if they change', async () => {
    api.objects.set(`/base${deployments}/web`, deployment)
    const scaled = await written(`${deployments}/web${applied}`, {
      method: 'PATCH',
      type: STRATEGIC,
      body: { spec: { replicas: 2 } },
    })
    expect(scaled).toEqual({ metadata: { labels: label, annotations: origin }, spec: { replicas: 2 } })
    const changed = await written(`${deployments}/web?fieldManager=helm`, {
      method: 'PATCH',
      type: MERGE,
      body: { spec: { template: { spec: { a: 1 } } } },
    })
    expect(changed.spec.template).toEqual({ metadata: { labels: label }, spec: { a: 1 } })
    expect(proxy.written()).toEqual([])
  })

  test('the kind of a patched object comes from the server', async () => {
    api.objects.set(`/base${configMaps}/a`, configMap)
    api.objects.set('/base/api/v1', {
      resources: [
        { name: 'pods', kind: 'Pod' },
        { name: 'configmaps', kind: 'ConfigMap' },
      ],
    })
    await written(`${configMaps}/a${applied}`, { method: 'PATCH', type: MERGE, body: {} })
    expect(proxy.written()).toEqual([{ apiVersion: 'v1', kind: 'ConfigMap' }])
  })

  test('patches that remove all labels keep ours', async () => {
    api.objects.set(`/base${deployments}/web`, deployment)
    const body = { metadata: { labels: null }, spec: { template: { metadata: { labels: null } } } }
    const patch = await written(`${deployments}/web${applied}`, { method: 'PATCH', type: STRATEGIC, body })
    expect(patch.metadata.labels).toEqual({ app: null, ...label })
    expect(patch.spec.template.metadata.labels).toEqual({ app: null, ...label })
  })

  test.each([
    ['kubectl-patch', STRATEGIC],
    ['kubectl-label', MERGE],
    ['kubectl-client-side-apply', 'application/json-patch+json'],
  ])('patches of `%s` (%s) do not add the label', async (manager, type) => {
    const body = type.includes('json-patch') ? [] : { spec: { replicas: 2 } }
    expect(await written(`${deployments}/web?fieldManager=${manager}`, { method: 'PATCH', type, body })).toEqual(body)
  })

  test('a Job keeps the labels of its template, which never changes', async () => {
    const path = '/apis/batch/v1/namespaces/team/jobs'
    const job = { ...deployment, apiVersion: 'batch/v1', kind: 'Job' }
    api.objects.set(`/base${path}/web`, job)
    const first = await written(`${path}/web`, { method: 'PUT', body: job })
    expect([first.metadata.labels, first.spec]).toEqual([{ app: 'web', ...label }, job.spec])
    api.objects.set(`/base${path}/web`, await written(path, { body: job }))
    const second = await written(`${path}/web`, { method: 'PUT', body: job })
    expect(second.spec.template.metadata.labels).toEqual({ app: 'web', ...label })
  })

  test('`kubectl apply` of an unchanged object sees a difference, so that it adds the label', async () => {
    const last = { 'kubectl.kubernetes.io/last-applied-configuration': '{}\n' }
    const nudged = { 'kubectl-command': 'kubectl apply' }
    api.objects.set(`/base${configMaps}/a`, { ...configMap, metadata: { name: 'a', annotations: last } })
    const annotation = async (headers: Record<string, string>) =>
      JSON.parse((await send(proxy, `${configMaps}/a`, { headers })).body).metadata.annotations
    expect(await annotation(nudged)).toEqual({ 'kubectl.kubernetes.io/last-applied-configuration': '{}\n ' })
    expect(await annotation({ 'kubectl-command': 'kubectl diff' })).toEqual(last)
    api.objects.set(`/base${configMaps}/a`, { ...configMap, metadata: { name: 'a', labels: label, annotations: last } })
    expect(await annotation(nudged)).toEqual(last)
  })
})

describe('objects of others', () => {
  test.each<[string, Sent]>([
    [configMaps, { method: 'POST', body: other }],
    [`${configMaps}/a`, { method: 'PUT', body: configMap }],
    [`${configMaps}/a`, { method: 'PATCH', type: APPLY, body: configMap }],
    [`${configMaps}/a?fieldManager=helm`, { method: 'PATCH', type: MERGE, body: {} }],
  ])('a write to an object of another environment is refused with its name: %s %j', async (path, sent) => {
    api.objects.set(`/base${configMaps}/a`, { ...configMap, ...other })
    const { status, body } = await send(proxy, path, sent)
    expect(status).toBe(403)
    expect(JSON.parse(body).message).toContain('belongs to environment `blog`')
    expect(api.writes).toEqual([])
  })

  test('an environment of the same name in another namespace is a different one', async () => {
    const labels = { ...label, 'dev.platform/environment-namespace': 'elsewhere' }
    const role = { kind: 'ClusterRole', metadata: { name: 'r', labels } }
    const path = '/apis/rbac.authorization.k8s.io/v1/clusterroles'
    api.objects.set(`/base${path}/r`, role)
    const { status, body } = await send(proxy, `${path}/r`, {
      method: 'PUT',
      body: { kind: 'ClusterRole', metadata: { name: 'r' } },
    })
    expect(status).toBe(403)
    expect(JSON.parse(body).message).toContain('in namespace `elsewhere`')
  })

  test('a cluster-wide object of others is changed, and does not get the label', async () => {
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    const crd = { kind: 'CustomResourceDefinition', metadata: { name: 'd' } }
    api.objects.set(`/base${path}/d`, crd)
    expect(await written(`${path}/d`, { method: 'PATCH', type: APPLY, body: crd })).toEqual(crd)
    expect(proxy.written()).toEqual([])
  })
})

describe('remember', () => {
  test('remember is called once for each kind, and the write waits for it', async () => {
    const kinds: string[] = []
    let go = () => {}
    remember = kind => {
      kinds.push(kind.kind)
      return new Promise<void>(resolve => {
        go = resolve
      })
    }
    const both = [written(configMaps, { body: configMap }), written(configMaps, { body: configMap })]
    while (kinds.length === 0) await new Promise(resolve => setImmediate(resolve))
    expect(api.writes).toEqual([])
    go()
    await Promise.all(both)
    expect(kinds).toEqual(['ConfigMap'])
  })

  test('a failure of remember refuses the write', async () => {
    remember = async () => {
      throw new Error('no record')
    }
    const { status, body } = await send(proxy, configMaps, { body: configMap })
    expect([status, JSON.parse(body).message]).toEqual([500, 'devctl could not hand this on: no record'])
    expect(api.writes).toEqual([])
    expect(proxy.written()).toEqual([])
  })
})
