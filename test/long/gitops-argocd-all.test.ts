import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { ensureArgocd } from '../support/cluster/argocd.ts'
import { eventually, findCluster } from '../support/cluster/cluster.ts'
import { httpServer } from '../support/git/http-server.ts'
import { manifestFor, type Publishing, publishingFrom } from '../support/git/publishing.ts'
import { bareRepository, commitDirectly } from '../support/git/repository.ts'

const cluster = findCluster()

const COMPOSE = `services:
  web:
    image: busybox:1.37
    deploy: {replicas: 0}
`

const APIS = '/apis/argoproj.io/v1alpha1/namespaces/argocd'
const SECONDS = 120

describe.skipIf(!(await ensureArgocd(cluster)))('Argo CD with one ApplicationSet for all folders', () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'devctl-argocd-all-')))
  const own = `gitops-all-${process.pid}`
  const [one, two] = [`${own}-one`, `${own}-two`]
  let app: Publishing

  beforeAll(async () => {
    const server = await httpServer((await bareRepository(root)).repository)
    const manifest = `${manifestFor(server.address)}  production: {namespace: shop, repository: ${server.address}}\n`
    app = await publishingFrom(root, server, { compose: COMPOSE, manifest })
  })

  afterAll(async () => {
    await cluster!.send('DELETE', `${APIS}/applicationsets/${own}`)
    await eventually('no Application is left', async () => (await applications()).length === 0 || undefined, {
      seconds: SECONDS,
    })
    for (const namespace of [one, two]) await cluster!.deleteNamespace(namespace)
    await app?.server.close()
    cluster!.close()
    rmSync(root, { recursive: true, force: true })
  })

  interface Application {
    readonly metadata: { readonly name: string; readonly ownerReferences?: readonly { readonly name: string }[] }
    readonly spec: { readonly source: { readonly path: string }; readonly destination: { readonly namespace: string } }
    readonly status?: { readonly sync?: { readonly status: string } }
  }

  interface Found {
    readonly name: string
    readonly path: string
    readonly namespace: string
    readonly sync: string | undefined
  }

  async function applications(): Promise<readonly Found[]> {
    const { body } = await cluster!.send('GET', `${APIS}/applications`)
    const { items }: { items: readonly Application[] } = JSON.parse(body)
    return items
      .filter(({ metadata }) => metadata.ownerReferences?.some(({ name }) => name === own))
      .map(({ metadata, spec, status }) => ({
        name: metadata.name,
        path: spec.source.path,
        namespace: spec.destination.namespace,
        sync: status?.sync?.status,
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  const publish = async (namespace: string, ...words: readonly string[]) => {
    const { status, stderr } = await app.publish('--name', namespace, '--namespace', namespace, ...words)
    expect(status, stderr).toBe(0)
  }

  const become = (wanted: readonly Found[]) =>
    eventually(
      'the Applications are as they should be',
      async () => {
        const found = await applications()
        return JSON.stringify(found) === JSON.stringify(wanted) || undefined
      },
      { explain: async () => `${JSON.stringify(await applications())}\n${await said()}`, seconds: SECONDS },
    )

  const said = async () => (await cluster!.send('GET', `${APIS}/applicationsets/${own}`)).body

  const folder = (name: string): Found => ({
    name: `${name}-staging`,
    path: `environments/staging/${name}`,
    namespace: name,
    sync: 'Synced',
  })

  test('each folder of the environment is an Application, but no base or other environment', async () => {
    await publish(one)
    await publish(two, '--layout', 'kustomize')
    const production = ['publish', '--environment', 'production', '--name', `${own}-three`]
    expect((await app.devctl(...production)).status).toBe(0)

    const words = ['--environment', 'staging', '--name', own]
    const { stdout } = await app.devctl('gitops', 'init', '--argocd', '--all', '--print', ...words)
    const made = await cluster!.send('POST', `${APIS}/applicationsets`, parse(stdout))
    expect(made.status, made.body).toBe(201)
    await become([folder(one), folder(two)])
  })

  test('a deleted folder deletes its Application', async () => {
    const gone = Object.keys(await app.tree()).filter(path => path.startsWith(`environments/staging/${one}/`))
    await commitDirectly(app.server.repository, Object.fromEntries(gone.map(path => [path, undefined])))
    await cluster!.send(
      'PATCH',
      `${APIS}/applicationsets/${own}`,
      { metadata: { annotations: { 'argocd.argoproj.io/application-set-refresh': 'true' } } },
      'application/merge-patch+json',
    )
    await become([folder(two)])
    const left = await cluster!.kubectl('--namespace', one, 'get', 'deploy', '--output=name')
    expect(left.trim()).toBe('')
  })
})
