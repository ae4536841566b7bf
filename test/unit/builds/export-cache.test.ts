import { expect, test } from 'vitest'
import { withCacheExport } from '../../../builds/export-cache.ts'
import type { PlannedBuild } from '../../../builds/plan/planned-build.ts'
import { Reporter } from '../../../compiler/diagnostics/reporter.ts'
import { PLAIN_BUILD } from '../../../compiler/values/images/build-spec.ts'

const CACHE = 'r.example.com/cache:1'

const build = (service: string, dependsOn: readonly string[] = []): PlannedBuild => ({
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

const exported = (builds: readonly PlannedBuild[]) =>
  builds.map(({ specOf }) => specOf(new Reporter(), new Map(), new Set()).exportCache)

test('the named image has the cache of the option, and the images that it is built on keep theirs', () => {
  const builds = [build('base'), build('web', ['base'])]
  expect(exported(withCacheExport(builds, ['web'], CACHE))).toEqual([['r.example.com/base:own'], [CACHE]])
  expect(exported(withCacheExport(builds, ['web'], undefined))).toEqual([
    ['r.example.com/base:own'],
    ['r.example.com/web:own'],
  ])
})

test('the option without names is for a single image only', () => {
  expect(exported(withCacheExport([build('web')], [], CACHE))).toEqual([[CACHE]])
  expect(() => withCacheExport([build('base'), build('web')], [], CACHE)).toThrow('`base`, `web`')
  expect(() => withCacheExport([build('a'), build('b'), build('c')], [], CACHE)).toThrow('`a`, `b`, `c`')
})
