import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type DevelopmentPlace, openDevelopment, openLaptop } from '../../pods/develop/development.ts'
import { PENDING, RUNNING } from '../../pods/develop/no-node.ts'
import { write } from '../../support/cli/folder.ts'
import { bindingInForce, eventually, findCluster } from '../../support/cluster/cluster.ts'
import { writeKubeconfig } from '../../support/cluster/kubeconfig-file.ts'
import type { Program } from '../../support/cluster/program.ts'
import { TcpProxy } from '../../support/cluster/tcp-proxy.ts'
import { longTest } from '../../support/takes-all.ts'

// Credentials expire while `up` runs, and permissions are revoked.

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

const FILES = {
  'compose.yaml': `name: shop
services:
  api:
    image: node:22-alpine
    user: "1000:1000"
    working_dir: /app
    command: ["sleep", "3600"]
    stop_grace_period: 1s
    ${PENDING}
`,
  'devctl.yml': `deploy: {compose: compose.yaml}
dev:
  api:
    command: ["sh", "-c", "while :; do cat said.txt; sleep 1; done"]
    workdir: /app
    sync: ["./files:/app"]
    ${RUNNING}
`,
  'files/said.txt': 'the first\n',
}

describe.skipIf(cluster === undefined)('the credentials of `devctl up`', () => {
  let place: DevelopmentPlace
  let line: TcpProxy
  let laptop: ReturnType<typeof openLaptop> | undefined
  let tokenFile = ''
  let up: Program

  const kubectl = (...words: readonly string[]) => cluster!.kubectl('--namespace', place.namespace, ...words)

  /** Creates a token of the account that becomes invalid when the Secret is deleted. */
  async function newToken(secret: string): Promise<void> {
    await kubectl('create', 'secret', 'generic', secret)
    const bound = ['--bound-object-kind=Secret', `--bound-object-name=${secret}`]
    writeFileSync(tokenFile, (await kubectl('create', 'token', 'dev', ...bound)).trim())
  }

  beforeAll(async () => {
    const { hostname, port } = new URL(parse(readFileSync(process.env.KUBECONFIG!, 'utf8')).clusters[0].cluster.server)
    line = await TcpProxy.start(hostname, Number(port))
    place = await openDevelopment(cluster!, 'credentials')
    tokenFile = join(place.home, 'token')
    await kubectl('create', 'serviceaccount', 'dev')
    await kubectl('create', 'rolebinding', 'dev', '--clusterrole=edit', `--serviceaccount=${place.namespace}:dev`)
    await bindingInForce(cluster!, place.namespace, `system:serviceaccount:${place.namespace}:dev`)
    await newToken('first')
    const script = `printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"%s"}}' "$(cat ${tokenFile})"`
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: 'sh',
      args: ['-c', script],
      interactiveMode: 'Never',
    }
    const KUBECONFIG = writeKubeconfig(config => {
      config.clusters[0]!.cluster['server'] = `https://127.0.0.1:${line.port}`
      for (const one of config.users) Object.assign(one, { user: { exec } })
    })
    laptop = openLaptop(place.namespace, 'credentials', { KUBECONFIG })
    write(laptop.folder, FILES)
  })
  afterAll(async () => {
    laptop?.clear()
    line?.close()
    await place?.close()
  })

  test('up reports a revoked token, and continues with another one', async () => {
    up = laptop!.devctl('up')
    await up.until(/^the first$/, 180)
    await kubectl('delete', 'secret', 'first')
    // The API server caches a token for some seconds; after that, all connections are opened again.
    const refused = await eventually(
      'the credentials are refused',
      async () => {
        line.cut()
        return /refuses the credentials of user/.test(up.stderr) || undefined
      },
      { explain: async () => up.stderr, pause: 3000 },
    )
    expect(refused).toBe(true)
    expect(up.stderr).toContain('log in again, in another terminal: `up` goes on by itself')
    writeFileSync(join(laptop!.folder, 'files/said.txt'), 'written meanwhile\n')
    await newToken('second')
    await up.until(/^written meanwhile$/, 180)
    expect(up.stderr).toContain('the cluster accepts the credentials again')
    expect(up.stderr.match(/refuses the credentials/g)!.length).toBeLessThan(5)
    expect(up.stderr).not.toContain(readFileSync(tokenFile, 'utf8'))
  })

  longTest('up names the rights that were revoked', async () => {
    const watch = '{"apiGroups":["","apps"],"resources":["*"],"verbs":["get","list","watch","patch","update","create"]}'
    const role = `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"reader","namespace":"${place.namespace}"},"rules":[${watch.replace('"*"', '"pods","events","secrets","persistentvolumeclaims","deployments"')},{"apiGroups":["coordination.k8s.io"],"resources":["leases"],"verbs":["*"]}]}`
    await cluster!.send(
      'POST',
      `/apis/rbac.authorization.k8s.io/v1/namespaces/${place.namespace}/roles`,
      JSON.parse(role),
    )
    await kubectl('create', 'rolebinding', 'reader', '--role=reader', `--serviceaccount=${place.namespace}:dev`)
    await kubectl('delete', 'rolebinding', 'dev')
    await eventually(
      'up has ended',
      async () => {
        line.cut()
        return up.process.exitCode ?? undefined
      },
      { explain: async () => up.stderr.slice(-3000), pause: 2000 },
    )
    expect(up.stderr).toMatch(/`(get|create)`.* on `pods\/exec`/)
    expect(up.stderr).toMatch(/`(get|create)`.* on `pods\/portforward`/)
  })
})
