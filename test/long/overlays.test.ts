import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { COMPOSE, manifestFor, type Publishing, publishing } from '../support/git/publishing.ts'

const SHARED = 'apps/shop'

/** Creates an application with two environments over one base. */
async function overlays(): Promise<Publishing> {
  const app = await publishing()
  const layout = '    layout: kustomize\n'
  const staging = manifestFor(app.server.address, layout)
  const production = staging.slice(staging.indexOf('  staging:')).replaceAll('staging', 'production')
  await app.change({ 'devctl.yml': staging + production })
  return app
}

/** Returns the base that an environment names, and checks that the repository has it. */
async function baseOf({ tree }: Publishing, environment: string): Promise<string> {
  const files = await tree()
  const folder = `environments/${environment}/shop`
  const [named] = parse(files[`${folder}/kustomization.yaml`]!).resources
  const base = posix.join(folder, named)
  expect(Object.keys(files)).toContain(`${base}/kustomization.yaml`)
  return base
}

test('a base exists as long as an environment uses it', async () => {
  const app = await overlays()
  for (const environment of ['staging', 'production'])
    expect((await app.devctl('publish', '--environment', environment)).status).toBe(0)
  const first = await baseOf(app, 'staging')
  expect(await baseOf(app, 'production')).toBe(first)
  expect(JSON.parse((await app.tree())[`${SHARED}/.devctl.lock`]!).uses).toEqual({
    'environments/production/shop': posix.basename(first),
    'environments/staging/shop': posix.basename(first),
  })

  await app.change({ 'compose.yaml': COMPOSE.replace('redis:7', 'redis:8') })
  await app.publish()
  const second = await baseOf(app, 'staging')
  expect(second).not.toBe(first)
  expect(await baseOf(app, 'production')).toBe(first)

  await app.devctl('publish', '--environment', 'production')
  expect(await baseOf(app, 'production')).toBe(second)
  expect(Object.keys(await app.tree()).filter(path => path.startsWith(`${first}/`))).toEqual([])
  for (const environment of ['staging', 'production'])
    expect((await app.devctl('publish', '--environment', environment)).stdout).toMatch(/^unchanged/)
})

test('the commit message lists changes of the cluster', async () => {
  const app = await overlays()
  expect((await app.publish()).stdout).toBe('deploy(shop/staging): 5 objects added\n')
  await app.change({ 'compose.yaml': COMPOSE.replace('nginx:1.27', 'nginx:1.28') })
  expect((await app.publish()).stdout).toBe('deploy(shop/staging): web 1.27 → 1.28\n')
})
