import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { hashManifestBuilds } from '../../../../compiler/manifest/build-hash.ts'
import { readManifest } from '../../../../compiler/manifest/read.ts'
import { createHost } from '../../../../project/node-host.ts'

const work = mkdtempSync(join(tmpdir(), 'devctl-manifest-hash-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))
let count = 0

/** The hashes of the images `base` and `web` of a manifest in a folder of its own. */
function hashesOf(
  web: string,
  { env = {}, files = {}, platform = {} }: Readonly<Record<string, Readonly<Record<string, string>>>> = {},
) {
  const folder = join(work, String(count++))
  const text = `build:\n  base: ./base\n  web:\n${web.replace(/^(?=.)/gm, '    ')}\n`
  const all = { 'base/Dockerfile': 'FROM scratch\n', 'web/Dockerfile': 'FROM scratch\n', ...files, 'devctl.yml': text }
  for (const [path, content] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  const host = createHost({ env, platformVariables: new Map(Object.entries(platform)) })
  const read = readManifest({ path: join(folder, 'devctl.yml'), workingDirectory: folder }, host)
  expect(read.diagnostics.map(({ message }) => message)).toEqual([])
  return hashManifestBuilds({ manifest: read.manifest!, host, secrets: read.secrets! })
}

const web = (...given: Parameters<typeof hashesOf>) => hashesOf(...given).get('web')!

describe('the hash of an image of the manifest', () => {
  const plain = web('context: web')

  test.each([
    ['files', 'context: web', { files: { 'web/new': '' } }],
    ['the target', 'context: web\ntarget: prod', {}],
    ['arguments', 'context: web\nargs: {A: "1"}', {}],
    ['variables', 'context: web\nargs: ["A=$A"]', { env: { A: '2' } }],
    ['secrets', 'context: web\nsecrets: {token: token.txt}', {}],
    ['what it depends on', 'context: web\ndepends_on: base', {}],
    ['the Dockerfile beside the manifest', 'context: web\ndockerfile: prod', { files: { prod: 'FROM busybox\n' } }],
  ])('the hash changes with %s', (_, text, world) => expect(web(text, world)).not.toBe(plain))

  test.each(['cache_from: registry.example.com/cache', 'export_cache: registry.example.com/cache'])(
    'the hash does not change with `%s`',
    key => expect(web(`context: web\n${key}`)).toBe(plain),
  )

  test('the hash changes with the input of the images that the image depends on', () => {
    const text = 'context: web\ndepends_on: base\nargs: ["FROM=${DEVCTL_BUILD_BASE_IMAGE}"]'
    expect(web(text)).toBe(web(text))
    expect(web(text, { files: { 'base/new': '' } })).not.toBe(web(text))
  })

  test.each(['[LEVEL]', '{LEVEL: }', '["LEVEL=$LEVEL"]', '{LEVEL: "${LEVEL}"}'])(
    'the hash does not depend on variables of the platform: %s',
    args => {
      const hash = (LEVEL: string) => web(`context: web\nargs: ${args}`, { platform: { LEVEL } })
      expect(hash('canary one')).toBe(hash('canary two'))
    },
  )

  test('the hash depends on the text around a variable of the platform', () => {
    const hash = (text: string) => web(`context: web\nargs: ["LEVEL=${text}$LEVEL"]`, { platform: { LEVEL: 'canary' } })
    expect(hash('a')).not.toBe(hash('b'))
  })

  test('the hash does not depend on secrets or on the login of a URL', () => {
    const secret = (TOKEN: string) => web('context: web\nargs: [TOKEN]\nsecrets: {t: {env: TOKEN}}', { env: { TOKEN } })
    expect(secret('one')).toBe(secret('two'))
    const remote = (login: string) => web(`context: https://${login}@example.com/web.git`)
    expect(remote('me:one')).toBe(remote('me:two'))
    expect(remote('me')).not.toBe(plain)
  })
})
