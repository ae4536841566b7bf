import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { printYaml } from '../../constructs/yaml.ts'
import { type DevelopmentPlace, openDevelopment } from '../pods/develop/development.ts'
import { deployment, withoutServerFields } from '../pods/develop/taking.ts'
import { write } from '../support/cli/folder.ts'
import { type Argocd, ensureArgocd, startArgocd } from '../support/cluster/argocd.ts'
import { eventually, findCluster } from '../support/cluster/cluster.ts'
import { httpServer } from '../support/git/http-server.ts'
import { bareRepository, type GitServer } from '../support/git/repository.ts'

const cluster = findCluster()
const isThere = await ensureArgocd(cluster)

const MANIFEST = `dev:
  web:
    command: ["sh", "-c", "echo connected; sleep 3600"]
    workdir: /app
    sync: ["./files:/app"]
    persistentVolume: {enabled: false}
`

const IGNORED = [{ group: 'apps', kind: 'Deployment', jsonPointers: ['/spec/replicas'] }]

describe.skipIf(!isThere).each([
  ['with self-heal', 'healed', undefined],
  ['with self-heal and `/spec/replicas` in `ignoreDifferences`', 'ignored', IGNORED],
] as const)('an application of Argo CD %s', (_, name, ignoreDifferences) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'devctl-up-argocd-')))
  let place: DevelopmentPlace
  let server: GitServer
  let argocd: Argocd | undefined

  beforeAll(async () => {
    place = await openDevelopment(cluster!, `argocd-${name}`)
    const { metadata, ...rest } = deployment('web')
    const web = printYaml({ ...rest, metadata: { ...metadata, namespace: place.namespace } })
    const bare = await bareRepository(folder, { files: { 'environments/staging/shop/web.yaml': web } })
    server = await httpServer(bare.repository)
    argocd = await startArgocd(cluster!, {
      namespace: place.namespace,
      path: 'environments/staging/shop',
      server,
      syncOptions: ['ServerSideApply=true', ...(ignoreDifferences ? ['RespectIgnoreDifferences=true'] : [])],
      ...(ignoreDifferences && { ignoreDifferences }),
    })
    await argocd.reconcile()
    write(place.folder, { 'devctl.yml': MANIFEST, 'files/a.txt': 'one\n' })
  })
  afterAll(async () => {
    await argocd?.remove()
    await place?.close()
    await server?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const path = () => `/apis/apps/v1/namespaces/${place.namespace}/deployments`
  const original = () => cluster!.get<KubeObject & { spec: { replicas: number } }>(`${path()}/web`)
  /** Returns the original without the time of the last apply, since Argo CD may have applied it again. */
  const asBefore = async () =>
    JSON.parse(JSON.stringify(withoutServerFields(await original()), (key, value) => (key === 'time' ? '' : value)))
  const mirrors = async () =>
    (await cluster!.get<{ items: KubeObject[] }>(`${path()}?labelSelector=dev.platform/mirror`)).items

  test('up develops an application of Argo CD, and down restores it without a difference', async () => {
    const before = await asBefore()
    const up = place.devctl('up')
    await up.until(/^connected$/, 90)
    expect(up.stderr).toContain('Argo CD applies `deployment/web`: with self-heal it scales it up again')
    expect(up.stderr).toContain('`ignoreDifferences`')
    const [{ metadata }] = (await mirrors()) as [KubeObject]

    if (ignoreDifferences) {
      const syncs = await argocd!.syncs()
      expect((await original()).spec.replicas).toBe(0)
      expect(await argocd!.syncs()).toBe(syncs)
      expect(up.stderr).not.toContain('has scaled')
    } else {
      await eventually(
        'Argo CD wins',
        async () => (up.stderr.includes('again and again') && (await original()).spec.replicas === 2) || undefined,
        { explain: async () => `${up.stderr}\n${(await original()).spec.replicas}`, seconds: 360 },
      )
      expect(up.stderr).toContain('`argocd-controller` has scaled `deployment/web`: `devctl down` restores 2')
      expect(up.stderr).toContain(
        '`argocd-controller` scales `deployment/web` up again and again: it runs beside its mirror',
      )
    }
    // Argo CD prunes only objects that it tracks and that are not in the repository.
    expect((await mirrors()).map(one => one.metadata.uid)).toEqual([metadata.uid])
    expect(up.process.exitCode).toBeNull()

    const down = place.devctl('down')
    expect(await down.status, down.stderr).toBe(0)
    expect(await asBefore()).toEqual(before)
    await argocd!.reconcile()
    expect(await asBefore()).toEqual(before)
    const syncs = await argocd!.syncs()
    expect(await argocd!.syncs()).toBe(syncs)
    expect(await mirrors()).toEqual([])
  })
})
