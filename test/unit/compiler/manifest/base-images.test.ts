import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { Reporter } from '../../../../compiler/diagnostics/reporter.ts'
import { withBaseImages } from '../../../../compiler/manifest/base-images.ts'
import { readManifest } from '../../../../compiler/manifest/read.ts'
import type { BuildOverrides } from '../../../../compiler/values/dockerfile/dockerfile-images.ts'
import { createHost } from '../../../../project/node-host.ts'

const work = mkdtempSync(join(tmpdir(), 'devctl-manifest-bases-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))
let count = 0

const MANIFEST = `build:
  base: {context: ./base, image: registry.example.com/base:1}
  web: {context: ./web, args: {TAG: "1"}}
`

/** The images that `web` depends on, the contexts of its build, and the messages. */
function basesOf(
  files: Readonly<Record<string, string>>,
  overrides: BuildOverrides = {},
  env: Readonly<Record<string, string>> = {},
) {
  const folder = join(work, String(count++))
  const all = {
    'base/Dockerfile': 'FROM scratch\n',
    'web/Dockerfile': 'FROM scratch\n',
    'devctl.yml': MANIFEST,
    ...files,
  }
  for (const [path, content] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  const host = createHost({ env })
  const { manifest } = readManifest({ path: join(folder, 'devctl.yml'), workingDirectory: folder }, host)
  const reporter = new Reporter()
  const { build, bases } = withBaseImages(manifest!, host, reporter, overrides).get('web')!
  return {
    dependsOn: build.dependsOn.map(({ value }) => value),
    bases: [...bases],
    said: reporter.diagnostics().map(({ code, message }) => `${code}: ${message}`),
  }
}

describe('an image of the manifest', () => {
  const BASE = [['registry.example.com/base:1', 'base']]

  test.each([
    'FROM registry.example.com/base:1',
    'ARG TAG=2\nFROM registry.example.com/base:$TAG',
    'FROM scratch\nCOPY --from=registry.example.com/base:1 / /',
  ])('an image depends on the image that its Dockerfile names: %j', dockerfile => {
    expect(basesOf({ 'web/Dockerfile': dockerfile })).toEqual({ dependsOn: ['base'], bases: BASE, said: [] })
  })

  test('an image does not depend on an image that its Dockerfile does not name', () => {
    const files = { 'web/Dockerfile': 'FROM registry.example.com/base:2' }
    expect(basesOf(files)).toEqual({ dependsOn: [], bases: [], said: [] })
  })

  test('an image depends on an image named with arguments or the target of the command line', () => {
    const found = { dependsOn: ['base'], bases: BASE, said: [] }
    const none = { dependsOn: [], bases: [], said: [] }
    const tagged = { 'web/Dockerfile': 'ARG TAG=2\nFROM registry.example.com/base:$TAG' }
    expect(basesOf(tagged, { args: new Map([['TAG', '2']]) })).toEqual(none)
    const named = { 'web/Dockerfile': 'ARG BASE=scratch\nFROM $BASE' }
    expect(basesOf(named)).toEqual(none)
    expect(basesOf(named, { args: new Map([['BASE', 'registry.example.com/base:1']]) })).toEqual(found)
    const staged = { 'web/Dockerfile': 'FROM registry.example.com/base:1 AS one\nFROM scratch' }
    expect(basesOf(staged)).toEqual(none)
    expect(basesOf(staged, { target: 'one' })).toEqual(found)
  })

  test('an image depends on an image named with the platforms of the build', () => {
    const manifest = MANIFEST.replace('base:1', 'base-arm64')
    const files = { 'devctl.yml': manifest, 'web/Dockerfile': 'FROM registry.example.com/base-$TARGETARCH' }
    expect(basesOf(files).dependsOn).toEqual([])
    expect(basesOf(files, { platforms: ['linux/amd64', 'linux/arm64'] }).dependsOn).toEqual(['base'])
    expect(basesOf(files, {}, { DOCKER_DEFAULT_PLATFORM: 'linux/arm64' }).dependsOn).toEqual(['base'])
    const both = { DOCKER_DEFAULT_PLATFORM: 'linux/arm64' }
    expect(basesOf(files, { platforms: ['linux/amd64'] }, both).dependsOn).toEqual([])
  })

  test('images that depend on each other in a cycle are refused', () => {
    const manifest = MANIFEST.replace('./web,', './web, image: registry.example.com/web,')
    const files = {
      'base/Dockerfile': 'FROM registry.example.com/web',
      'web/Dockerfile': 'FROM registry.example.com/base:1',
    }
    expect(basesOf({ ...files, 'devctl.yml': manifest }).said).toEqual([
      'manifest/build-circle: images depend on each other in a cycle: `base` → `web` → `base`',
    ])
  })
})
