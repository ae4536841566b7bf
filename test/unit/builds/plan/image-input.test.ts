import { describe, expect, test } from 'vitest'
import { imageInput } from '../../../../builds/plan/image-input.ts'
import { type CacheExport, PLAIN_BUILD } from '../../../../compiler/values/images/build-spec.ts'

const NOTHING = { images: new Map(), layouts: new Map() }
const local = { type: 'local', attributes: { dest: '/cache' } }

function cachesOf(own: Partial<CacheExport>, output: Parameters<typeof imageInput>[3], cacheExport?: CacheExport) {
  const source = { context: { folder: '/app' }, dockerfile: { path: '/app/Dockerfile' } }
  const spec = { ...PLAIN_BUILD, ...source, dependsOn: [], ...own }
  return imageInput(spec, { ...(cacheExport && { cacheExport }) }, NOTHING, output).cacheTo
}

describe('the caches that a build exports', () => {
  const pushed = (name: string) => ({ kind: 'registry', names: [name] }) as const

  test.each([
    ['r.example.com/web:1', 'r.example.com/web:1', 'inline'],
    ['r.example.com/web', 'r.example.com/web:latest', 'inline'],
    ['team/web:1', 'docker.io/team/web:1', 'inline'],
    ['r.example.com/web:1', 'r.example.com/web:cache', 'registry'],
  ])('the cache of %s that is exported to %s is of the type %s', (name, ref, type) => {
    expect(cachesOf({ exportCache: [ref] }, pushed(name)).map(one => one.type)).toEqual([type])
  })

  test('an image that is not pushed exports no cache to a registry, which could replace the image', () => {
    const shared = ['registry', 'gha', 's3'].map(type => ({ type, attributes: { ref: 'r.example.com/web:cache' } }))
    const own = { cacheTo: [local, ...shared], exportCache: ['r.example.com/web:1'] }
    expect(cachesOf(own, { kind: 'discard' })).toEqual([local])
  })

  test('the option replaces the images of the build, and keeps its caches', () => {
    const own = { cacheTo: [local], exportCache: ['r.example.com/web:own'] }
    const given = { cacheTo: [{ type: 'inline', attributes: {} }], exportCache: [] }
    expect(cachesOf(own, pushed('r.example.com/web:1'), given)).toEqual([local, ...given.cacheTo])
  })
})
