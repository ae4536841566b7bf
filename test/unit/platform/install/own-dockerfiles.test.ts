import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { copyIn } from '../../../../adapters/registry/registry.ts'
import { imagesOfDockerfile } from '../../../../compiler/values/dockerfile/dockerfile-images.ts'
import { PLATFORM_IMAGES, platformImages } from '../../../../platform/install/manifests/images.ts'
import { EVERYTHING, imagesUsed, platformObjects, withImages } from '../../../../platform/install/manifests/server.ts'
import { ownDockerfile } from '../../../../platform/install/own-dockerfiles.ts'
import { root } from '../../../support/cases.ts'

const REGISTRY = 'r.internal/devctl'

test.each(PLATFORM_IMAGES)('each base image of `%s` has a tag and a digest, and is replaced by its argument', name => {
  const { path, bases } = ownDockerfile(name)
  const text = readFileSync(path, 'utf8')
  for (const { image } of bases) expect(image).toMatch(/^[\w.]+\.[a-z]+\/.+:[\w.-]+@sha256:[0-9a-f]{64}$/)
  expect(imagesOfDockerfile(text, undefined, new Map())).toEqual(expect.arrayContaining(bases.map(one => one.image)))
  const args = new Map(bases.map(({ argument, image }) => [argument, copyIn(REGISTRY, image)]))
  const replaced = imagesOfDockerfile(text, undefined, args)
  expect(replaced).toHaveLength(bases.length)
  for (const image of replaced) expect(image).toMatch(/^r\.internal\/devctl\/[\w./-]+:[\w.-]+$/)
})

test.each([
  ['docker.io/library/node:22-slim', 'r.internal/devctl/library/node:22-slim'],
  ['registry.k8s.io/kubectl:v1.34.2', 'r.internal/devctl/kubectl:v1.34.2'],
  ['docker.io/moby/buildkit:v0.33.1', 'r.internal/devctl/moby/buildkit:v0.33.1'],
  ['docker.io/library/node:22-slim@sha256:0a1b', 'r.internal/devctl/library/node:22-slim'],
  ['localhost:5000/node@sha256:0a1b', 'r.internal/devctl/node'],
])('the copy of %s is %s', (image, copy) => {
  expect(copyIn(REGISTRY, image)).toBe(copy)
})

test('what the Dockerfiles copy is in the package', () => {
  const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { files: readonly string[] }
  expect(files).toContain('platform/images')
  const copied = PLATFORM_IMAGES.flatMap(name =>
    [...readFileSync(ownDockerfile(name).path, 'utf8').matchAll(/^COPY (?!--)(\S+) /gm)].map(([, path = '']) => path),
  )
  const isPacked = (path: string) =>
    path === 'package.json' ||
    files.some(
      file =>
        `${path}/`.startsWith(`${file}/`) ||
        file.startsWith(`${path}/`) ||
        (file === 'dist/platform/*.cjs' && /^dist\/platform\/\w+\.cjs$/.test(path)),
    )
  expect(copied.length).toBeGreaterThan(5)
  expect(copied.filter(path => !isPacked(path))).toEqual([])
})

test('every image of a platform comes from its image registry', () => {
  const options = { version: '0.1.0', domain: 'dev.example.com', replicas: 1, kubernetes: { server: 'https://k' } }
  const planned = { ...options, image: '', runnerImage: '', ...EVERYTHING }
  expect(imagesUsed(planned)).toEqual(PLATFORM_IMAGES)
  const images = platformImages(REGISTRY, '0.1.0')
  const text = JSON.stringify(platformObjects(withImages(planned, images)))
  const found = [...text.matchAll(/\\?"image\\?":\s*\\?"([^"\\]*)/g)].map(([, image]) => image!)
  expect(new Set(found)).toEqual(new Set(Object.values(images)))
})
