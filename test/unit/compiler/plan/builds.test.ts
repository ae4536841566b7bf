import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { compile, type PlanOptions } from '../../../../compiler/index.ts'
import { createHost } from '../../../../project/node-host.ts'

const work = mkdtempSync(join(tmpdir(), 'devctl-builds-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))
let count = 0

interface Case {
  readonly env?: Readonly<Record<string, string>>
  readonly options?: PlanOptions
  readonly files?: Readonly<Record<string, string>>
}

/** The builds of a Compose file in a folder of its own, with a context in `.`, `base` and `files`. */
function plan(compose: string, { env = {}, options = {}, files = {} }: Case = {}) {
  const folder = join(work, String(count++))
  const all = {
    'app/Dockerfile': 'FROM scratch\nARG OTHER\nARG API_TOKEN\n',
    'base/Dockerfile': 'FROM scratch\n',
    'files/data.txt': 'data\n',
    ...files,
    'compose.yaml': compose,
  }
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const usual = { name: 'shop', registry: 'registry.example.com', forBuild: 'build' as const }
  return compile({ workingDirectory: folder, ...usual, ...options }, createHost({ env }))
}

const buildsOf = (compose: string, given?: Case) => {
  const { plan: found, diagnostics } = plan(compose, given)
  expect(diagnostics.map(({ message }) => message)).toEqual([])
  return found!.builds
}

const tagOf = (build: string, given?: Case) =>
  /:([0-9a-f]{12})$/.exec(
    buildsOf(
      `services:\n  web:\n    build:\n      context: app\n${build.replace(/^(?=.)/gm, '      ')}\n${TOP}`,
      given,
    ).find(({ service }) => service === 'web')!.image,
  )![1]!

const TOP = `
  base: {build: base, profiles: [base]}
secrets:
  token: {environment: TOKEN}
  other: {environment: OTHER}
networks: {named: {}}
`

describe('the tag of an image', () => {
  const plain = tagOf('')

  test.each([
    ['labels', 'labels: {a: "1"}', 'labels: {a: "2"}'],
    ['platforms', 'platforms: [linux/amd64]', 'platforms: [linux/amd64, linux/arm64]'],
    ['attestations', 'provenance: mode=max', 'provenance: false'],
    ['SBOMs', 'sbom: true', 'sbom: generator=example'],
    ['secrets', 'secrets: [token]', 'secrets: [other]'],
    ['the names of contexts', 'additional_contexts: {a: ./files}', 'additional_contexts: {b: ./files}'],
    [
      'images of contexts',
      'additional_contexts: {a: "docker-image://a"}',
      'additional_contexts: {a: "docker-image://b"}',
    ],
    ['kinds of contexts', 'additional_contexts: {a: "service:base"}', 'additional_contexts: {a: ./base}'],
  ])('the tag changes with %s', (_, one, other) => {
    expect(new Set([plain, tagOf(one), tagOf(other)]).size).toBe(3)
  })

  test.each([
    'network: host',
    'extra_hosts: ["db=192.0.2.1"]',
    'shm_size: 64m',
    'ulimits: {nofile: 1024}',
    'ssh: [default]',
    'privileged: true',
    'no_cache: true',
    'no_cache_filter: [deps]',
    'pull: true',
    'cache_from: [registry.example.com/cache]',
    'cache_to: [registry.example.com/cache]',
    'export_cache: registry.example.com/cache',
    'tags: [registry.example.com/web:latest]',
  ])('the tag does not change with `%s`', build => expect(tagOf(build)).toBe(plain))

  test('the tag does not change with the order of keys or the value of a secret', () => {
    expect(tagOf('labels: {a: "1", b: "2"}')).toBe(tagOf('labels: {b: "2", a: "1"}'))
    expect(tagOf('platforms: [linux/amd64, linux/arm64]')).toBe(tagOf('platforms: [linux/arm64, linux/amd64]'))
    const secret = (env: Readonly<Record<string, string>>) => tagOf('secrets: [token]', { env })
    expect(secret({ TOKEN: 'one' })).toBe(secret({ TOKEN: 'two' }))
    const label = (env: Readonly<Record<string, string>>) => tagOf('labels: {token: "$API_TOKEN"}', { env })
    expect(label({ API_TOKEN: 'one' })).toBe(label({ API_TOKEN: 'two' }))
  })

  test('the tag changes with the files of an additional context, except ignored files', () => {
    const context = (files: Readonly<Record<string, string>>) => tagOf('additional_contexts: {a: ./files}', { files })
    const before = context({ 'files/.dockerignore': 'ignored' })
    expect(context({ 'files/.dockerignore': 'ignored', 'files/ignored': '' })).toBe(before)
    expect(context({ 'files/.dockerignore': 'ignored', 'files/new': '' })).not.toBe(before)
    expect(context({ 'files/.dockerignore': 'ignored', 'files/data.txt': 'new\n' })).not.toBe(before)
  })

  test('the tag changes with the input of the services whose images the image uses', () => {
    const chain = (files: Readonly<Record<string, string>>, options?: PlanOptions) =>
      buildsOf(
        `services:
  web: {build: {context: app, additional_contexts: {base: "service:base"}}}
  base: {profiles: [b], build: {context: base, additional_contexts: {files: "service:files"}}}
  files: {profiles: [b], build: {context: files, dockerfile_inline: FROM scratch}}
`,
        { files, ...(options && { options }) },
      ).map(({ image }) => image)
    const before = chain({})
    const after = chain({ 'files/data.txt': 'new\n' })
    expect(before).toHaveLength(3)
    for (const [index, image] of before.entries()) expect(after[index]).not.toBe(image)

    const given = { images: new Map([['base', 'registry.example.com/base:1']]) }
    const [web, ...rest] = chain({}, given)
    expect(rest).toEqual([])
    expect(chain({ 'files/data.txt': 'new\n' }, given)).toEqual([web])
  })

  test('the tag for a remote context does not depend on the project folder or a password', () => {
    const remote = `
services:
  web:
    build:
      context: https://me:password@example.com/app.git#main
      additional_contexts: {files: ./files, more: "https://me:password@example.com/more.git"}
`
    const [one] = buildsOf(remote)
    expect(buildsOf(remote)[0]!.image).toBe(one!.image)
    expect(buildsOf(remote.replaceAll('password', 'other'))[0]!.image).toBe(one!.image)
    expect(buildsOf(remote, { files: { 'files/data.txt': 'new\n' } })[0]!.image).not.toBe(one!.image)
  })
})

describe('the builds of a plan', () => {
  const compose = `
services:
  web: {build: {context: app, additional_contexts: {base: "service:base", again: "service:base"}}}
  named: {image: registry.example.com/named:1, build: app}
  base: {profiles: [base], build: base}
  unused: {profiles: [base], build: base}
  plain: {image: nginx}
`
  test('builds are planned for active services, and for inactive services that they use', () => {
    expect(buildsOf(compose)).toMatchObject([
      {
        service: 'named',
        image: 'registry.example.com/named:1',
        contentImage: expect.stringMatching(/^registry\.example\.com\/named:devctl-[0-9a-f]{12}$/),
        dependsOn: [],
      },
      { service: 'web', hasRegistry: true, dependsOn: ['base'] },
      { service: 'base', image: expect.stringMatching(/^registry\.example\.com\/shop-base:[0-9a-f]{12}$/) },
    ])
  })

  test('a build without a registry is marked, and has the tag that an option gives', () => {
    const { plan: found } = plan(compose, { options: { registry: undefined, tag: '1.4' } as PlanOptions })
    expect(found!.builds).toMatchObject([
      { service: 'named', hasRegistry: true },
      { service: 'web', image: 'registry.local.devctl/shop-web:1.4', hasRegistry: false },
      { service: 'base', hasRegistry: false },
    ])
  })

  test('builds have a name by their content, which a tag of the user does not change', () => {
    const contentOf = (text: string, part: Parameters<typeof buildsOf>[1] = {}) =>
      buildsOf(text, part).map(({ contentImage }) => contentImage)
    const [named, web, base] = contentOf(compose)
    expect(
      buildsOf(compose)
        .slice(1)
        .map(({ image }) => image),
    ).toEqual([web, base])
    const tagged = { options: { tag: '1.4', forBuild: 'build' as const, registry: 'registry.example.com' } }
    expect(contentOf(compose, tagged)).toEqual([named, web, base])
    expect(contentOf(compose.replace('named:1,', 'named,'))[0]).toBe(named)
    expect(contentOf(compose, { files: { 'app/main.js': 'changed\n' } })[0]).not.toBe(named)
    expect(contentOf(compose.replace('build: app}', 'build: https://example.com/a.git}'))[0]).toMatch(/:devctl-/)
    // A name by content needs sources on this machine, and an image that is not named by its digest.
    expect(contentOf(compose.replace('build: app}', 'build: gone}'))[0]).toBeUndefined()
    const pinned = plan(compose.replace('named:1,', `named@sha256:${'a'.repeat(64)},`))
    expect(pinned.plan!.builds[0]!.contentImage).toBeUndefined()
    expect(pinned.diagnostics.map(({ code }) => code)).toEqual(['build/pinned-image'])
  })

  test('builds are not hashed for a deploy that takes existing images with their names', () => {
    const contentOf = (text: string, options: PlanOptions = {}) =>
      buildsOf(text, { options: { forBuild: 'deploy', ...options } }).map(({ contentImage }) => contentImage?.length)
    const length = (name: string) => `registry.example.com/${name}:123456789012`.length
    const named = length('named') + 'devctl-'.length
    expect(contentOf(compose)).toEqual([named, length('shop-web'), length('shop-base')])
    expect(contentOf(compose, { tag: '1.4' })).toEqual([named, undefined, undefined])
    const withPolicy = (policy: string) => contentOf(compose.replace('named:1,', `named:1, pull_policy: ${policy},`))[0]
    expect(['always', 'missing', 'if_not_present'].map(withPolicy)).toEqual([undefined, undefined, undefined])
    expect(withPolicy('build')).toBe(named)
    // Nothing is pulled in place of a build.
    expect(withPolicy('never')).toBe(named)
  })

  test('builds omit services that an option replaces, and builds that only those need', () => {
    const images = new Map([['web', 'registry.example.com/web:1']])
    expect(buildsOf(compose, { options: { images } }).map(({ service }) => service)).toEqual(['named'])
  })

  test('builds are not planned for commands that do not build', () => {
    expect(buildsOf(compose, { options: { forBuild: undefined } as unknown as PlanOptions })).toEqual([])
  })

  test('builds need the folders of their contexts', () => {
    const { diagnostics } = plan(`
services:
  web: {build: {context: app, additional_contexts: {files: ./missing, base: "service:base"}}}
  base: {profiles: [base], build: ./gone}
`)
    expect(diagnostics.map(({ code, message }) => `${code}: ${message}`)).toEqual([
      'build/context-not-found: the build context `missing` is not a folder',
      'build/context-not-found: the build context `gone` is not a folder',
    ])
  })
})

describe('an image that is built on the image of another service', () => {
  const compose = (build: string, base = 'registry.example.com/base') => `
services:
  base: {image: "${base}", build: base, profiles: [base]}
  web: {image: registry.example.com/web, build: {context: app, ${build}}}
`
  const web = (build: string, { base, ...given }: Case & { readonly base?: string } = {}) =>
    buildsOf(compose(build, base), given).find(({ service }) => service === 'web')!
  const inline = (text: string) => `dockerfile_inline: ${JSON.stringify(text).replaceAll('$', '$$$$')}`

  test.each([
    inline('FROM registry.example.com/base'),
    inline('FROM registry.example.com/base:latest AS x\nFROM x'),
    inline('FROM scratch\nCOPY --from=registry.example.com/base / /'),
    inline('FROM scratch\nRUN --mount=from=registry.example.com/base,target=/b true'),
    `${inline('ARG BASE\nFROM $BASE')}, args: {BASE: registry.example.com/base}`,
    `${inline('ARG BASE=registry.example.com/base\nFROM $BASE')}`,
    `${inline('FROM registry.example.com/base AS one\nFROM scratch')}, target: one`,
  ])('a build depends on the image of the other service: %s', build => {
    const found = web(build)
    expect(found.dependsOn).toEqual(['base'])
    expect(buildsOf(compose(build)).map(({ service }) => service)).toEqual(['web', 'base'])
    // The tag changes with the content of the base image.
    const files = { 'base/Dockerfile': 'FROM scratch\nLABEL changed=1\n' }
    expect(web(build, { files }).contentImage).not.toBe(found.contentImage)
  })

  test('a base image is found in the Dockerfile, and by its short name of Docker Hub', () => {
    const files = { 'app/Dockerfile': 'FROM base:1\n' }
    for (const base of ['base:1', 'docker.io/library/base:1']) {
      const { plan: found } = plan(compose('no_cache: false', base), { files })
      expect(found!.builds.find(({ service }) => service === 'web')!.dependsOn).toEqual(['base'])
    }
  })

  test.each([
    inline('FROM registry.example.com/base:2'),
    inline(`FROM registry.example.com/base@sha256:${'a'.repeat(64)}`),
    inline('FROM registry.example.com/base AS unused\nFROM scratch'),
    inline('FROM registry.example.com/web'),
    `${inline('FROM registry.example.com/base')}, additional_contexts: {registry.example.com/base: ./files}`,
  ])('a build does not depend on the other service: %s', build => expect(web(build).dependsOn).toEqual([]))

  test('a build does not depend on a service whose name is the name of a stage', () => {
    const { plan: found } = plan(compose(inline('FROM scratch AS base\nFROM base'), 'base'))
    expect(found!.builds.map(({ service }) => service)).toEqual(['web'])
  })

  test('a build uses the base image that an option gives', () => {
    const images = new Map([['base', `registry.example.com/base@sha256:${'b'.repeat(64)}`]])
    const build = inline('FROM registry.example.com/base')
    const given = buildsOf(compose(build), { options: { images } })
    expect(given.map(({ service, dependsOn }) => [service, dependsOn])).toEqual([['web', []]])
    expect(given[0]!.contentImage).not.toBe(web(build).contentImage)
  })
})
