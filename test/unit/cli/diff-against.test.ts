import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeFolder, read, write } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'

const COMPOSE = `name: shop
services:
  web:
    image: nginx:1.27
    environment: {LEVEL: "\${LEVEL:-info}"}
    volumes: [data:/data]
volumes: {data: {}}
`
const MANIFEST = `name: shop
environments:
  staging:
    namespace: staging
    variables: {LEVEL: debug}
    repository: https://git.example.com/deploy.git
    layout: kustomize
`
const OVERLAY = 'rendered/environments/staging/shop'

async function rendered(...layout: readonly string[]) {
  const cwd = makeFolder({ 'compose.yaml': COMPOSE, 'devctl.yml': MANIFEST })
  const { status } = await run(['render', '--environment', 'staging', ...layout, '--output-dir', 'rendered'], { cwd })
  expect(status).toBe(0)
  return cwd
}

const against = (cwd: string, path: string) =>
  run(['diff', '--environment', 'staging', '--against', path, '--exit-code'], { cwd })

test.each([
  ['an overlay', 'kustomize', OVERLAY],
  ['plain manifests', 'plain', 'rendered'],
  ['one file', 'single-file', 'rendered/manifests.yaml'],
])('`diff --against` compares with the objects of %s', async (_, layout, path) => {
  const cwd = await rendered('--layout', layout)
  expect(await against(cwd, path)).toMatchObject({ status: 0, stderr: expect.stringContaining('nothing differs') })
  write(cwd, { 'compose.yaml': COMPOSE.replace('nginx:1.27', 'nginx:1.28') })
  const { status, stdout } = await against(cwd, path)
  expect(status).toBe(3)
  expect(stdout.match(/^ . \S+/gm)).toEqual([' ~ statefulset/web'])
  expect(stdout).toMatch(/containers\[web\]\.image\n\s+- nginx:1\.27\n\s+\+ nginx:1\.28\n$/)
})

test('a kustomization that devctl cannot build is refused with a command that can', async () => {
  const cwd = await rendered('--layout', 'kustomize')
  const path = `${OVERLAY}/kustomization.yaml`
  write(cwd, { [path]: `${read(join(cwd, OVERLAY))['kustomization.yaml']}namePrefix: mine-\n` })
  const { status, stderr } = await against(cwd, OVERLAY)
  expect(status).toBe(1)
  expect(stderr).toContain(`devctl cannot build \`${OVERLAY}\``)
  expect(stderr).toContain(`kubectl kustomize ${OVERLAY}`)
})

test('a folder without a kustomization has the objects of all its files', async () => {
  const cwd = await rendered('--format', 'yaml')
  const { status, stdout } = await against(cwd, 'rendered')
  // Files that were not rendered for a repository lack its annotations.
  expect({ status, stdout }).toEqual({ status: 3, stdout: expect.stringContaining('annotations') })
})

test.skipIf(process.platform === 'win32')('a link out of the folder is a file outside the project', async () => {
  const cwd = makeFolder({ 'compose.yaml': COMPOSE, 'devctl.yml': MANIFEST, 'there/README.md': '' })
  const stranger = makeFolder({ 'secret.yaml': 'apiVersion: v1\nkind: Pod\nmetadata: {name: stranger-4711}\n' })
  symlinkSync(join(stranger, 'secret.yaml'), join(cwd, 'there/linked.yaml'))
  const diff = (env: Readonly<Record<string, string>>, ...words: readonly string[]) =>
    run(['diff', '--environment', 'staging', '--against', 'there', ...words], { cwd, env })
  const refused = await diff({ CI: 'true' })
  expect(refused).toMatchObject({ status: 1, stdout: '' })
  expect(refused.stderr).toMatch(/secret\.yaml` is outside the project and is not read/)
  expect(refused.stderr).not.toContain('stranger-4711')
  expect((await diff({})).stderr).toMatch(/^warning: `\S+secret\.yaml` is outside the project/m)
  expect((await diff({ CI: 'true' }, '--allow-outside')).stdout).toContain('stranger-4711')

  symlinkSync('/proc/self/environ', join(cwd, 'there/system.yaml'))
  expect(await diff({})).toMatchObject({ status: 1, stdout: '' })
})

test('a folder outside the project is read if the user names it', async () => {
  const cwd = await rendered('--layout', 'plain')
  const other = makeFolder(read(join(cwd, 'rendered')))
  const { status, stderr } = await run(['diff', '--environment', 'staging', '--against', other], {
    cwd,
    env: { CI: 'true' },
  })
  expect({ status, stderr }).toMatchObject({ status: 0, stderr: expect.stringContaining('nothing differs') })
})
