import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { root } from '../../support/cases.ts'
import { makeFolder } from '../../support/cli/folder.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { adminOf, editorToken, tokenFor, writeKubeconfig } from '../../support/cluster/kubeconfigs.ts'
import { playPods } from '../../support/cluster/play-pods.ts'
import { withProject } from '../../support/cluster/project.ts'
import { run } from '../../support/run.ts'
import { few } from '../../support/takes-all.ts'

const found = findCluster()
const namespace = `rights-${process.pid}`
const elsewhere = `${namespace}-elsewhere`

playPods({ isOurs: name => name === namespace || name.startsWith(`p${process.pid}-`) })

/** An application with every usual kind of object. */
const COMPOSE = `name: shop
services:
  web:
    image: busybox:1.37
    command: [sh, -c, "httpd -f -p 8080 -h /www"]
    init: true
    stop_grace_period: 1s
    ports: ["80:8080"]
    healthcheck: {test: "true", interval: 3s}
    volumes: [data:/data]
    configs: [{source: page, target: /www/index.html}]
    secrets: [password]
    depends_on: {setup: {condition: service_completed_successfully}}
  setup:
    image: busybox:1.37
    command: ["true"]
    restart: "no"
volumes: {data: {}}
configs: {page: {content: hello}}
secrets: {password: {environment: PASSWORD}}
`

/** Returns the rules of the table in docs/deploy.md: a group before its kinds, if they have one, and verbs. */
function rulesOfDocs(): readonly object[] {
  const text = readFileSync(join(root, 'docs/deploy.md'), 'utf8')
  const table = /^\| resources \| verbs \|\n.*\n((?:\|.*\n)+)/m.exec(text)![1]!
  return table
    .trim()
    .split('\n')
    .flatMap(row => {
      const [, kinds = '', verbs = ''] = row.split('|')
      return kinds.split(';').map(part => {
        const group = /`([\w.]+)`:/.exec(part)?.[1]
        const names = [...part.replace(/`[\w.]+`:/, '').matchAll(/`([a-z/]+)`/g)].map(([, name]) => name)
        return { apiGroups: [group ?? ''], resources: names, verbs: verbs.split(',').map(verb => verb.trim()) }
      })
    })
}

describe.skipIf(found === undefined)('a user with the rights of the table in docs/deploy.md', () => {
  test('a user with the rights of the table deploys, changes, restarts and destroys with volumes', () =>
    withProject(found!, async project => {
      const { name, directory } = project
      const role = { metadata: { name: 'deployer' }, rules: rulesOfDocs() }
      const made = await found!.send('POST', `/apis/rbac.authorization.k8s.io/v1/namespaces/${name}/roles`, role)
      expect(made.status, made.body).toBe(201)
      const admin = adminOf(process.env.KUBECONFIG ?? '')
      const token = await tokenFor(found!, name, { name: 'deployer', role: { kind: 'Role', name: 'deployer' } })
      const cluster = { server: admin.server, 'certificate-authority-data': admin.authority }
      const kubeconfig = writeKubeconfig(directory, { cluster, user: { token }, namespace: name })
      const env = { KUBECONFIG: kubeconfig, DEVCTL_HOME: join(directory, 'home'), PASSWORD: 'hunter2' }
      const devctl = (...words: string[]) => run([...words, '--namespace', name], { cwd: directory, env })
      for (const text of [COMPOSE, COMPOSE.replace('content: hello', 'content: good day')]) {
        project.compose(text.replace('name: shop\n', ''))
        const { status, stderr } = await devctl('deploy', '--domain', 'dev.example.com', '--wait')
        expect(status, stderr).toBe(0)
      }
      for (const words of [['diff'], ['ps'], ['restart', 'web'], ['endpoints'], ['destroy', '--volumes', '--wait']]) {
        const { status, stderr } = await devctl(...words)
        expect(status, stderr).toBe(0)
      }
    }))
})

describe.skipIf(found === undefined)('a user with the role `edit` in one namespace', () => {
  const cluster = found!
  let folder = ''
  let env: Readonly<Record<string, string>> = {}

  beforeAll(async () => {
    await cluster.createNamespace(namespace)
    await cluster.createNamespace(elsewhere)
    folder = mkdtempSync(join(tmpdir(), 'devctl-rights-'))
    writeFileSync(join(folder, 'compose.yaml'), COMPOSE)
    const admin = adminOf(process.env.KUBECONFIG ?? '')
    const kubeconfig = writeKubeconfig(folder, {
      cluster: { server: admin.server, 'certificate-authority-data': admin.authority },
      user: { token: await editorToken(cluster, namespace) },
      namespace,
    })
    env = { KUBECONFIG: kubeconfig, DEVCTL_HOME: join(folder, 'home'), PASSWORD: 'hunter2' }
  })

  afterAll(async () => {
    await cluster.deleteNamespace(namespace)
    await cluster.deleteNamespace(elsewhere)
    cluster.close()
    rmSync(folder, { recursive: true })
  })

  const devctl = (line: string) => run(line.split(' '), { cwd: folder, env })

  test('a user with the role `edit` deploys, deploys again, and destroys', async () => {
    const first = await devctl('deploy --domain dev.example.com --wait')
    expect(first, first.stderr).toMatchObject({ status: 0 })
    expect(first.stderr).toContain(`shop is deployed to ${namespace}`)
    const second = await devctl('deploy --domain dev.example.com --wait')
    expect(second.stderr).toContain(`shop is up to date in ${namespace}`)
    const endpoints = await devctl('endpoints')
    expect(endpoints, endpoints.stderr).toMatchObject({ status: 0 })
    expect(endpoints.stdout).toContain(`https://web-${namespace}.dev.example.com`)
    const end = await devctl('destroy --volumes --wait')
    expect(end, end.stderr).toMatchObject({ status: 0 })
    expect(end.stderr).toContain(`shop is destroyed in ${namespace}`)
    for (const { stdout, stderr } of [first, second, end]) expect(stdout + stderr).not.toContain('hunter2')
  })

  test.each(few(['deploy', 'destroy', 'deploy --loglevel debug --wait'], 2))(
    '%s in another namespace reports once which user may not do what',
    async line => {
      const { status, stdout, stderr } = await devctl(`${line} --namespace ${elsewhere}`)
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
      const forbidden = stderr.split('\n').filter(text => /forbidden|cannot/.test(text))
      expect(forbidden).toHaveLength(1)
      expect(forbidden[0]).toMatch(
        /^error: .*User "system:serviceaccount:.*:editor" cannot (get|list|create|patch|delete) resource "\w+".* in the namespace "/,
      )
      expect(stderr).toContain('= help: ')
    },
  )

  test('`devctl namespace` without the right to list suggests a command that needs no list', async () => {
    const { main } = await import('../../../cli/main.ts')
    let text = ''
    const output = { isTTY: true, write: (part: string) => (text += part) }
    const status = await main(['namespace'], {
      stdout: output,
      stderr: output,
      readStdin: async () => new Uint8Array(),
      env,
      cwd: makeFolder(),
      choose: async () => undefined,
    })
    expect(status).toBe(1)
    expect(text).toMatch(
      /^error: .*cannot list resource "namespaces".*\n {2}= help: set it with `devctl namespace use NAME`, which does not list namespaces\n$/,
    )
  })
})
