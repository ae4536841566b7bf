import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findCluster } from '../support/cluster/cluster.ts'
import { ensureFlux, type Flux, startFlux } from '../support/cluster/flux.ts'
import { httpServer } from '../support/git/http-server.ts'
import { manifestFor, type Publishing, publishingFrom } from '../support/git/publishing.ts'
import { bareRepository } from '../support/git/repository.ts'
import { IDENTITY, RECIPIENT } from '../support/gitops/sops/decrypt.ts'

const cluster = findCluster()
const isThere = await ensureFlux(cluster)

const LOGIN = { username: 'publisher', password: 'correct horse' }
const KEYS = 'sops-age'
const BYTES = Buffer.from([0, 1, 250, 255, 10]).toString('base64')

/** A service that shows its variable and its file, which have to be Secrets. */
const compose = (password: string) => `name: shop
services:
  web:
    image: busybox:1.37
    command: ["sh", "-c", "echo \\"$$API_PASSWORD\\" >/tmp/shown; exec sleep 100000"]
    environment: {API_PASSWORD: ${password}}
    secrets: [token]
    stop_grace_period: 0s
secrets:
  token: {file: token.bin}
`

const ENVIRONMENT = (layout: string) => `    layout: ${layout}
    secrets:
      backend: sops
      age: [${RECIPIENT}]
      values:
        services.web.environment.API_PASSWORD: {secret: shop-web, key: password}
`

afterAll(() => cluster?.close())

describe.skipIf(!isThere)('Flux with Secrets that `publish` encrypts for SOPS', () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'devctl-sops-')))
  const namespace = `sops-${process.pid}`
  let app: Publishing
  let flux: Flux

  beforeAll(async () => {
    await cluster!.createNamespace(namespace)
    const bare = await bareRepository(root)
    const server = await httpServer(bare.repository, { user: LOGIN.username, password: LOGIN.password })
    app = await publishingFrom(root, server, { compose: compose('hunter2-of-the-sea'), manifest: manifest('plain') })

    function manifest(layout: string) {
      return manifestFor(server.address, ENVIRONMENT(layout)).replace('shop-staging', namespace)
    }
    writeFileSync(join(app.source, 'token.bin'), Buffer.from(BYTES, 'base64'))
    writeFileSync(join(root, 'age.agekey'), `${IDENTITY}\n`)
    await kubectl('create', 'secret', 'generic', KEYS, `--from-file=${join(root, 'age.agekey')}`)
  })

  afterAll(async () => {
    await flux?.remove()
    await cluster!.deleteNamespace(namespace)
    await app?.server.close()
    rmSync(root, { recursive: true, force: true })
  })

  const kubectl = (...args: readonly string[]) => cluster!.kubectl('--namespace', namespace, ...args)
  const inside = (...command: string[]) => kubectl('exec', 'deployment/web', '--', ...command)

  async function publish(...words: readonly string[]): Promise<void> {
    const { status, stderr } = await app.publish(...words)
    expect(status, stderr).toBe(0)
    const target = { application: 'shop', environment: 'staging', path: 'environments/staging/shop', namespace }
    const settings = { decryptionSecret: KEYS }
    flux ??= await startFlux(cluster!, { namespace, target, server: app.server, login: LOGIN, settings, folder: root })
    await flux.reconcile()
  }

  const uid = async (name: string) => JSON.parse(await kubectl('get', name, '--output=json')).metadata.uid

  test('the Pod gets the values, byte for byte', async () => {
    await publish()
    expect(await inside('cat', '/tmp/shown')).toBe('hunter2-of-the-sea\n')
    expect((await inside('base64', '/run/secrets/token')).trim()).toBe(BYTES)
    const { data, sops } = JSON.parse(await kubectl('get', 'secret', 'shop-web', '--output=json'))
    expect({ data, sops }).toEqual({ data: { password: Buffer.from('hunter2-of-the-sea').toString('base64') } })
    expect(await flux.inventory()).toContain('Secret/shop-web')
  })

  test('the other layouts have the same objects', async () => {
    const before = await uid('secret/shop-web')
    for (const layout of ['single-file', 'kustomize']) {
      await publish('--layout', layout)
      expect(await uid('secret/shop-web'), layout).toBe(before)
      const { data } = JSON.parse(await kubectl('get', 'secret', 'shop-web', '--output=json'))
      expect(data, layout).toEqual({ password: Buffer.from('hunter2-of-the-sea').toString('base64') })
    }
  })

  test('a new value reaches the Secret', async () => {
    await app.change({ 'compose.yaml': compose('hunter3-of-the-sea') })
    await publish()
    const { data } = JSON.parse(await kubectl('get', 'secret', 'shop-web', '--output=json'))
    expect(data).toEqual({ password: Buffer.from('hunter3-of-the-sea').toString('base64') })
  })
})
