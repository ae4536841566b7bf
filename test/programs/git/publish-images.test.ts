import { describe, expect, test } from 'vitest'
import { parseLock } from '../../../project/lock.ts'
import { write } from '../../support/cli/folder.ts'
import { publishing } from '../../support/git/publishing.ts'
import { DIGEST, type FakeServer, fakeServer, giveManifest, refuse } from '../../support/registry/fake-registry.ts'
import { few, longTest } from '../../support/takes-all.ts'

const FOLDER = 'environments/staging/shop'
const OTHER = `sha256:${'b'.repeat(64)}`

/** Starts a registry with the tags that a test sets, as digests by `repository:tag`. */
async function registry(): Promise<{ readonly server: FakeServer; readonly tags: Map<string, string> }> {
  const tags = new Map<string, string>()
  const server = await fakeServer(({ path }, response) => {
    const [, repository, tag] = /^\/v2\/(.+)\/manifests\/(.+)$/.exec(path) ?? []
    const digest = tags.get(`${repository}:${tag}`)
    if (digest === undefined) refuse(response, 404, 'MANIFEST_UNKNOWN')
    else giveManifest(response, digest, digest === DIGEST ? undefined : '')
  })
  return { server, tags }
}

const composeFor = (image: string) => `name: shop
services:
  web:
    image: ${image}
    build: .
    ports: ["8080:80"]
  cache:
    image: redis:7
`

async function withBuild() {
  const { server, tags } = await registry()
  const image = (tag: string) => `${server.host}/org/web:${tag}`
  const made = await publishing({ compose: composeFor(image('1.4')) })
  const imageNow = async () =>
    /image: (\S+org\/web\S*)/.exec((await made.tree())[`${FOLDER}/web/deployment-web.yaml`]!)?.[1]
  return { ...made, server: made.server, registry: server, tags, image, imageNow }
}

describe('the image of a service with `build`', () => {
  test('publish writes an image with its digest, and a second publish is unchanged', async () => {
    const { publish, tags, image, imageNow, log, tree, registry } = await withBuild()
    tags.set('org/web:1.4', DIGEST)
    expect((await publish()).status).toBe(0)
    expect(await imageNow()).toBe(`${image('1.4')}@${DIGEST}`)
    const { facts } = parseLock((await tree())[`${FOLDER}/.devctl.lock`]!, '')
    expect(facts?.images).toEqual({ cache: 'redis:7', web: `${image('1.4')}@${DIGEST}` })
    expect((await publish()).stdout).toMatch(/^unchanged/)
    expect(await log()).toHaveLength(1)
    expect(registry.requests.some(({ path }) => path.includes('redis'))).toBe(false)
  })

  test('publish reports a moved tag by its digests, and a new tag by its name', async () => {
    const { publish, change, tags, image } = await withBuild()
    tags.set('org/web:1.4', OTHER)
    await publish()
    tags.set('org/web:1.4', DIGEST)
    expect((await publish()).stdout).toBe(`deploy(shop/staging): web bbbbbbb → ${DIGEST.slice(7, 14)}\n`)
    tags.set('org/web:1.5', OTHER)
    await change({ 'compose.yaml': composeFor(image('1.5')) })
    expect((await publish()).stdout).toBe('deploy(shop/staging): web 1.4 → 1.5\n')
  })

  test('publish reports an image that its registry does not have', async () => {
    const { publish, server, image } = await withBuild()
    const { status, stdout, stderr } = await publish()
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toContain('error[image/not-confirmed]')
    expect(stderr).toContain('--> compose.yaml:5:5')
    expect(stderr).toContain(image('1.4'))
    expect(stderr).toContain('nothing was published')
    const { git } = await import('../../support/git/git.ts')
    expect(await git(server.repository, 'for-each-ref')).toBe('')
  })

  test.each(
    few([
      ['that needs a login', 401, 'UNAUTHORIZED'],
      ['that is forbidden', 403, 'DENIED'],
    ]),
  )('publish fails with a registry %s', async (_, status, code) => {
    const closed = await fakeServer((_, response) =>
      refuse(response, status, code, { 'www-authenticate': 'Basic realm="x"' }),
    )
    const { publish } = await publishing({ compose: composeFor(`${closed.host}/org/web:1`) })
    expect(await publish()).toMatchObject({ status: 1, stderr: expect.stringContaining('image/not-confirmed') })
  })

  longTest('publish accepts an image with a digest from `--image` without asking the registry', async () => {
    const { publish, image, imageNow, registry, log } = await withBuild()
    const given = `${image('1.4')}@${OTHER}`
    expect((await publish('--image', `web=${given}`)).status).toBe(0)
    expect(await imageNow()).toBe(given)
    expect(registry.requests).toEqual([])
    expect((await publish('--image', `web=${given}`)).stdout).toMatch(/^unchanged/)
    expect(await log()).toHaveLength(1)
  })

  longTest('publish resolves an image with a tag from `--image`', async () => {
    const { publish, image, imageNow, tags } = await withBuild()
    tags.set('org/web:rc', DIGEST)
    expect((await publish('--image', `web=${image('rc')}`)).status).toBe(0)
    expect(await imageNow()).toBe(`${image('rc')}@${DIGEST}`)
  })

  test.each(
    few([
      ['references', (reference: string) => ({ web: `${reference}@${OTHER}` })],
      [
        'what buildx writes',
        (reference: string) => ({ web: { 'image.name': reference, 'containerimage.digest': OTHER } }),
      ],
    ]),
  )('publish accepts digests from a file of %s', async (_, content) => {
    const { publish, source, image, imageNow, registry } = await withBuild()
    write(source, { 'images.json': JSON.stringify(content(image('1.4'))) })
    expect((await publish('--images-file', 'images.json')).status).toBe(0)
    expect(await imageNow()).toBe(`${image('1.4')}@${OTHER}`)
    expect(registry.requests).toEqual([])
  })

  longTest('publish writes the digest only into an overlay', async () => {
    const { publish, tags, image, tree } = await withBuild()
    tags.set('org/web:1.4', DIGEST)
    expect((await publish('--layout', 'kustomize')).status).toBe(0)
    const texts = await tree()
    expect(texts[`${FOLDER}/kustomization.yaml`]).toContain(DIGEST)
    expect(texts[`${FOLDER}/kustomization.yaml`]).toContain(image('1.4').replace(':1.4', ''))
    const base = Object.entries(texts).filter(([path]) => path.startsWith('apps/'))
    expect(base.map(([, text]) => text).join('\n')).not.toContain(DIGEST)
    expect((await publish('--layout', 'kustomize')).stdout).toMatch(/^unchanged/)
  })

  test('publish refuses a build without an image name and a registry', async () => {
    const { publish } = await publishing({ compose: 'name: shop\nservices:\n  web:\n    build: .\n' })
    expect(await publish()).toMatchObject({ status: 1, stderr: expect.stringContaining('error[image/no-registry]') })
  })
})
