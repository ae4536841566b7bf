import { expect, test } from 'vitest'
import { withCacheExport, withSettings } from '../../../builds/build.ts'
import type { BuildSettings } from '../../../builds/plan/image-input.ts'
import type { PlannedBuild } from '../../../builds/plan/planned-build.ts'
import { Reporter } from '../../../compiler/diagnostics/reporter.ts'
import { PLAIN_BUILD } from '../../../compiler/values/images/build-spec.ts'

const CACHE = 'r.example.com/cache:1'

const cached = (service: string, dependsOn: readonly string[] = []): PlannedBuild => ({
  service,
  span: undefined,
  reference: `r.example.com/${service}:1`,
  contentReference: `r.example.com/${service}:devctl-0123456789ab`,
  tags: [],
  dependsOn,
  specOf: () => ({
    ...PLAIN_BUILD,
    context: { folder: '/' },
    dockerfile: { text: '' },
    exportCache: [`r.example.com/${service}:own`],
  }),
})

const EXPORT = { cacheTo: [], exportCache: [CACHE] }

const exported = (builds: readonly PlannedBuild[]) =>
  builds.map(({ specOf }) => specOf(new Reporter(), new Map(), new Set()).exportCache)

test('the named image has the cache of the option, and the images that it is built on keep theirs', () => {
  const builds = [cached('base'), cached('web', ['base'])]
  expect(exported(withCacheExport(builds, ['web'], EXPORT))).toEqual([['r.example.com/base:own'], [CACHE]])
  expect(exported(withCacheExport(builds, ['web'], undefined))).toEqual([
    ['r.example.com/base:own'],
    ['r.example.com/web:own'],
  ])
})

test('the option without names is for a single image only', () => {
  expect(exported(withCacheExport([cached('web')], [], EXPORT))).toEqual([[CACHE]])
  expect(() => withCacheExport([cached('base'), cached('web')], [], EXPORT)).toThrow('`base`, `web`')
  expect(() => withCacheExport([cached('a'), cached('b'), cached('c')], [], EXPORT)).toThrow('`a`, `b`, `c`')
})

test('the target of the command line is for the named images, and not for those that they are built on', () => {
  const builds = [cached('base'), cached('web', ['base'])]
  const targets = (names: readonly string[]) =>
    withSettings(builds, names, { target: 'test' }).map(({ specOf, contentReference }, index) => [
      specOf(new Reporter(), new Map(), new Set()).target,
      contentReference === builds[index]!.contentReference,
    ])
  expect(targets(['web'])).toEqual([
    [undefined, true],
    ['test', false],
  ])
  expect(targets([])).toEqual([
    ['test', false],
    ['test', false],
  ])
})

const build = (reference: string, contentReference: string | undefined): PlannedBuild => ({
  service: 'web',
  // Only diagnostics use it.
  span: undefined as never,
  reference,
  contentReference,
  tags: [],
  dependsOn: [],
  specOf: () => ({}) as never,
})

const HASHED = build('r.example.com/web:0123456789ab', 'r.example.com/web:0123456789ab')
const NAMED = build('r.example.com/web:1', 'r.example.com/web:devctl-0123456789ab')

const names = (one: PlannedBuild, settings: BuildSettings) => {
  const [{ reference, contentReference }] = withSettings([one], [], settings) as [PlannedBuild]
  return [reference, contentReference]
}
const contentOf = (settings: BuildSettings) => names(HASHED, settings)[1]

test('options that change an image change the name of its content, but no name from the user', () => {
  const settings = { args: new Map([['GREETING', 'hello']]) }
  const [reference, content] = names(HASHED, settings)
  expect(reference).toBe(content)
  expect(content).toMatch(/^r\.example\.com\/web:[0-9a-f]{12}$/)
  expect(names(NAMED, settings)).toEqual(['r.example.com/web:1', content!.replace('web:', 'web:devctl-')])
  expect(names(build('r.example.com/web:1', undefined), settings)).toEqual(['r.example.com/web:1', undefined])
})

test('each option changes the name of the content, and the order of options does not', () => {
  const all = [
    {},
    { args: new Map([['A', '1']]) },
    { args: new Map([['A', '2']]) },
    { target: 'dev' },
    { platforms: ['linux/arm64'] },
    { platforms: ['linux/amd64', 'linux/arm64'] },
  ]
  expect(new Set(all.map(contentOf)).size).toBe(all.length)
  const args = [
    ['A', '1'],
    ['B', '2'],
  ] as const
  expect(contentOf({ args: new Map(args) })).toBe(contentOf({ args: new Map([...args].reverse()) }))
  expect(contentOf({ platforms: ['linux/arm64', 'linux/amd64'] })).toBe(
    contentOf({ platforms: ['linux/amd64', 'linux/arm64'] }),
  )
})

test('the name depends neither on options that keep the image nor on the values of secrets', () => {
  const [, content] = names(HASHED, {})
  const settings = { noCache: true, cacheFrom: [], exportCache: 'r.example.com/cache', secrets: new Map() }
  expect(contentOf(settings)).toBe(content)
  const withToken = (value: string) => contentOf({ args: new Map([['NPM_TOKEN', value]]) })
  expect(withToken('one')).toBe(withToken('another'))
  const [secret, plain] = ['NPM_TOKEN', 'NPM_VERSION'].map(name =>
    withSettings([HASHED], [], { args: new Map([[name, 'hunter-4711']]) }),
  )
  expect([secret![0]!.isMoving, plain![0]!.isMoving]).toEqual([true, undefined])
  expect(withToken('one')).not.toBe(content)
})
