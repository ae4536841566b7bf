import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type DevelopmentPlace, openDevelopment } from '../pods/develop/development.ts'
import { imageWithFiles } from '../pods/develop/user-image.ts'
import { write } from '../support/cli/folder.ts'
import { eventually, findCluster } from '../support/cluster/cluster.ts'

// Changes the image of the workload while its mirror exists and between two runs of `up`, and tests `up --reset`.

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

const filesOf = (version: string) => ({
  '/app/node_modules/x/index.js': version,
  [`/app/node_modules/only-${version}/index.js`]: version,
  '/app/dist/made.js': version,
  '/app/shared.txt': `image ${version}`,
  '/cache/seed': version,
})

const compose = (image: string) => `name: shop
services:
  api: {image: "${image}", user: "1000:1000", command: ["sleep", "1000"], stop_grace_period: 0s}
`
const MANIFEST = `deploy: {compose: compose.yaml}
dev:
  api:
    command: ["sleep", "1000"]
    workdir: /app
    sync: ["./files:/app"]
    volumes: ["/cache"]
`

describe.skipIf(cluster === undefined)('the image of a workload', () => {
  let place: DevelopmentPlace
  let images: readonly string[]
  beforeAll(async () => {
    images = await Promise.all(['1', '2', '3'].map(version => imageWithFiles(`changed-${version}`, filesOf(version))))
    place = await openDevelopment(cluster!, 'up-image')
    const files = { 'files/main.js': 'mine', 'files/shared.txt': 'image 1' }
    write(place.folder, { 'compose.yaml': compose(images[0]!), 'devctl.yml': MANIFEST, ...files })
  })
  afterAll(() => place?.close())

  const run = async (...words: readonly string[]) => {
    const program = place.devctl(...words)
    expect(await program.status, program.stderr).toBe(0)
    return program.stdout.trim()
  }
  const inContainer = (script: string) => run('exec', '--', 'sh', '-c', script)
  const cat = (path: string) => inContainer(`cat ${path} 2>/dev/null; true`)
  const here = () => readdirSync(join(place.folder, 'files')).sort()
  const eventuallyIs = (path: string, text: string) =>
    eventually(`${path} is ${text}`, async () => {
      const program = place.devctl('exec', '--', 'cat', path)
      return (await program.status) === 0 && program.stdout === text ? true : undefined
    })
  const podUid = async () => {
    const { items } = await cluster!.get<{ items: { metadata: { uid: string; deletionTimestamp?: string } }[] }>(
      `/api/v1/namespaces/${place.namespace}/pods?labelSelector=dev.platform/mirror=api`,
    )
    return items.find(({ metadata }) => metadata.deletionTimestamp === undefined)?.metadata.uid
  }
  const setImage = (image: string) =>
    cluster!.kubectl('-n', place.namespace, 'set', 'image', 'deployment/api', `api=${image}`)

  test('a new image updates the mirror, and keeps files that were created here or there', async () => {
    await run('up', '--detach')
    expect(await cat('/app/node_modules/x/index.js')).toBe('1')
    await inContainer(
      'mkdir /app/node_modules/mine && echo -n mine > /app/node_modules/mine/index.js; echo kept > /cache/kept',
    )
    await setImage(images[1]!)
    await eventuallyIs('/app/node_modules/x/index.js', '2')
    await eventuallyIs('/app/shared.txt', 'image 1')
    expect(await cat('/app/dist/made.js')).toBe('2')
    expect(await inContainer('ls /app/node_modules')).toBe('mine\nonly-2\nx')
    expect(await inContainer('cat /cache/kept /cache/seed')).toBe('kept\n1')
    expect(await cat('/app/main.js')).toBe('mine')
    expect(here()).toEqual(['main.js', 'shared.txt'])
    expect(readFileSync(join(place.folder, 'files/shared.txt'), 'utf8')).toBe('image 1')
  })

  test('an image that changed between two runs of up updates the mirror in the same way', async () => {
    await run('down')
    write(place.folder, { 'compose.yaml': compose(images[2]!), 'files/later.js': 'later' })
    await run('deploy', '--wait')
    await run('up', '--detach')
    expect(await inContainer('cat node_modules/x/index.js dist/made.js main.js later.js shared.txt')).toBe(
      '33minelaterimage 1',
    )
    expect(await inContainer('ls /app/node_modules')).toBe('mine\nonly-3\nx')
    expect(here()).toEqual(['later.js', 'main.js', 'shared.txt'])
  })

  test('up --reset starts with the image and this machine, and keeps the caches', async () => {
    const volume = () => inAgent('cat /devctl/volume/.devctl/volume')
    const inAgent = async (script: string) =>
      (
        await cluster!.kubectl(
          '-n',
          place.namespace,
          'exec',
          'deploy/api-dev',
          '-c',
          'devctl-agent',
          '--',
          'sh',
          '-c',
          script,
        )
      ).trim()
    const before = await volume()
    await inContainer('rm -r node_modules/x; echo -n broken > dist/made.js')
    await eventually(
      'the change is here',
      async () => existsSync(join(place.folder, 'files/dist/made.js')) || undefined,
    )
    write(place.folder, { 'files/dist/made.js': 'repaired' })
    await eventuallyIs('/app/dist/made.js', 'repaired')
    await run('down')
    await run('up', '--detach', '--reset')
    expect(await volume()).not.toBe(before)
    expect(await inContainer('cat node_modules/x/index.js dist/made.js main.js; ls node_modules')).toBe(
      '3repairedmineonly-3\nx',
    )
    expect(await inContainer('cat /cache/kept')).toBe('kept')
    expect(here()).toEqual(['dist', 'later.js', 'main.js', 'shared.txt'])
    // The next `up` continues with the same Pod and volume.
    const uid = await podUid()
    const id = await volume()
    await place.devctl('up', '--detach').status
    expect(await podUid()).toBe(uid)
    expect(await volume()).toBe(id)
  })
})
