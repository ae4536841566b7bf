import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { type DevelopmentPlace, openDevelopment } from '../../pods/develop/development.ts'
import { write } from '../../support/cli/folder.ts'
import { bindingInForce, eventually, findCluster } from '../../support/cluster/cluster.ts'
import { writeKubeconfig } from '../../support/cluster/kubeconfig-file.ts'
import { freePort } from '../../support/develop/free-port.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

/** Permissions that `edit` grants and `up` needs, except for connections to Pods. */
const RULES = [
  {
    apiGroups: [''],
    resources: ['pods', 'services', 'secrets', 'configmaps', 'persistentvolumeclaims', 'events'],
    verbs: ['*'],
  },
  { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
  { apiGroups: ['apps', 'batch', 'autoscaling', 'coordination.k8s.io', 'policy'], resources: ['*'], verbs: ['*'] },
]

/** Creates a Role and the user `NAME` who has it. */
async function addUser(namespace: string, name: string, rules: readonly object[]): Promise<void> {
  const group = 'rbac.authorization.k8s.io'
  const role = { apiVersion: `${group}/v1`, kind: 'Role', metadata: { name }, rules }
  const binding = {
    apiVersion: `${group}/v1`,
    kind: 'RoleBinding',
    metadata: { name },
    roleRef: { apiGroup: group, kind: 'Role', name },
    subjects: [{ apiGroup: group, kind: 'User', name }],
  }
  for (const object of [role, binding]) {
    const { status, body } = await cluster!.apply(object as unknown as KubeObject, namespace)
    if (status >= 300) throw new Error(body)
  }
  await bindingInForce(cluster!, namespace, name)
}

const kubeconfigOf = (user: string) =>
  writeKubeconfig(({ users }) => {
    for (const one of users) one.user['as'] = user
  })

/** Waits until a server on this machine answers with the text. */
const answers = (port: number, text: string) =>
  eventually(`port ${port} answers \`${text}\``, async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(60_000) }).catch(
      () => undefined,
    )
    return answer && (await answer.text()) === text ? true : undefined
  })

const SERVER = `require('http').createServer((_, a) => a.end(require('fs').readFileSync('/app/page', 'utf8'))).listen(process.env.PORT)`

describe.skipIf(cluster === undefined)('devctl up without port-forwards', () => {
  const users = ['exec-only', 'neither'].map(name => `${name}-${process.pid}`) as [string, string]
  const kubeconfig = kubeconfigOf(users[0])
  let place: DevelopmentPlace
  let port = 0

  beforeAll(async () => {
    place = await openDevelopment(cluster!, 'up-exec-only', { KUBECONFIG: kubeconfig })
    port = await freePort()
    const exec = { apiGroups: [''], resources: ['pods/exec'], verbs: ['get', 'create'] }
    await addUser(place.namespace, users[0], [...RULES, exec])
    await addUser(place.namespace, users[1], [
      ...RULES,
      { apiGroups: [''], resources: ['pods/exec'], verbs: ['create'] },
    ])
    write(place.folder, {
      'compose.yaml': `name: shop
services:
  web:
    image: node:22-alpine
    command: ["node", "/app/server.js"]
    user: "1000:1000"
    environment: {PORT: "8080"}
    volumes: [".:/app"]
    ports: ["${port}:8080"]
    stop_grace_period: 1s
`,
      'server.js': SERVER,
      page: 'one',
    })
  })
  afterAll(async () => {
    await place?.devctl('down').status
    await place?.close()
  })

  test('up uses the exec API for files and ports, reports it in one line, and survives a new Pod', async () => {
    const up = place.devctl('up')
    await answers(port, 'one')
    const said = /`get` and `create` on `pods\/portforward` is missing: .* over `pods\/exec`/g
    expect(up.stderr.match(said), up.stderr).toHaveLength(1)
    writeFileSync(join(place.folder, 'page'), 'two')
    await answers(port, 'two')
    // The server answers before the kubelet has reported that its container runs.
    await eventually('a command runs', async () => {
      const exec = place.devctl('exec', 'web', '--', 'sh', '-c', 'echo -n three > /app/page; exit 7')
      return (await exec.status) === 7 ? true : undefined
    })
    await answers(port, 'three')

    const { namespace } = place
    await cluster!.kubectl('--namespace', namespace, 'delete', 'pod', '--selector', 'dev.platform/mirror=web')
    writeFileSync(join(place.folder, 'page'), 'four')
    await answers(port, 'four')
    // A bridge that has lost its connection exits by itself, so that no processes pile up.
    expect(await bridges()).toBe(2)
  })

  const bridges = async () => {
    const pods = await cluster!.kubectl(
      ...['--namespace', place.namespace, 'get', 'pods', '--selector', 'dev.platform/mirror=web'],
      ...['--output', 'jsonpath={.items[0].metadata.name}'],
    )
    const script = 'for p in /proc/[0-9]*; do tr "\\0" " " < $p/cmdline 2>/dev/null; echo; done'
    const processes = await cluster!.kubectl(
      ...['--namespace', place.namespace, 'exec', pods, '--container', 'devctl-agent', '--', 'sh', '-c', script],
    )
    return processes.split('\n').filter(line => line.startsWith('node -e')).length
  }

  test('up without any access to Pods names the missing rights, and changes nothing', async () => {
    const deployment = () =>
      cluster!.kubectl(
        ...[
          '--namespace',
          place.namespace,
          'get',
          'deployment',
          'web',
          '--output',
          'jsonpath={.metadata.generation} {.spec.replicas}',
        ],
      )
    const down = place.devctl('down')
    expect(await down.status, down.stderr).toBe(0)
    const before = await deployment()
    copyFileSync(kubeconfigOf(users[1]), kubeconfig)
    const up = place.devctl('up')
    expect(await up.status).toBe(1)
    expect(up.stderr).toContain('can be reached neither by `pods/exec` nor by `pods/portforward`; nothing was changed')
    expect(up.stderr).toContain('`get` on `pods/exec` is missing')
    expect(up.stderr).toContain('`get` and `create` on `pods/portforward` is missing')
    expect(await deployment()).toBe(before)
  })
})
