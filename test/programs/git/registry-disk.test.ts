import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { measureDisk } from '../../../platform/install/manifests/registry-disk.ts'
import { readRegistryDisk } from '../../../platform/rules/registry/registry-disk.ts'

// These tests run the script that measures the registry's disk, with the programs of a system like that of its image,
// in a folder as distribution lays it out.

const root = mkdtempSync(join(tmpdir(), 'devctl-registry-disk-'))
afterAll(() => rmSync(root, { recursive: true }))

const measured = () => readRegistryDisk(execFileSync('sh', ['-c', measureDisk(root)], { encoding: 'utf8' }))
const put = (path: string, bytes: number) => {
  const file = join(root, 'docker/registry/v2', path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, Buffer.alloc(bytes))
}
const [large, small, gone] = ['a', 'b', 'c'].map(digit => digit.repeat(64))

test('the measured disk of an empty registry has no places', () => {
  const disk = measured()!
  expect(disk.size).toBeGreaterThan(disk.free)
  expect(Date.now() / 1000 - disk.at).toBeLessThan(60)
  expect(disk.places.size).toBe(0)
})

test('a place counts each layer that it links to once, and its uploads', () => {
  put(`blobs/sha256/aa/${large}/data`, 1_000_000)
  put(`blobs/sha256/bb/${small}/data`, 10)
  for (const path of [
    `shop-1f2e3d4c/web/_layers/sha256/${large}/link`,
    `shop-1f2e3d4c/api/v1/_layers/sha256/${large}/link`,
    `shop-1f2e3d4c/web/_layers/sha256/${small}/link`,
    `shop-1f2e3d4c/web/_manifests/revisions/sha256/${small}/link`,
    // The current revision of a tag is not a blob, but takes up folders.
    `shop-1f2e3d4c/web/_manifests/tags/latest/current/link`,
    // This layer was mounted from another place, and no image names it.
    `wiki-00000001/web/_layers/sha256/${large}/link`,
    // The garbage collection has deleted this blob.
    `blog-00000000/web/_layers/sha256/${gone}/link`,
  ])
    put(`repositories/${path}`, 71)
  put('repositories/blog-00000000/web/_uploads/6d0c/data', 500_000)
  put('repositories/blog-00000000/web/_uploads/6d0c/hashstates/sha256/0', 100)
  expect(Object.fromEntries(measured()!.places)).toEqual({
    'shop-1f2e3d4c': 1_000_000 + 65_536 + 3 * 32_768,
    'wiki-00000001': 1_000_000,
    'blog-00000000': 500_000 + 4096 + 65_536,
  })
})

test('tags and layers in several repositories count as the size of their folders', () => {
  const place = 'tags-1f2e3d4c'
  const of = (repository: string, path: string) => put(`repositories/${place}/${repository}/${path}/link`, 71)
  for (let number = 0; number < 100; number++) {
    of('web', `_manifests/tags/t${number}/current`)
    of('web', `_manifests/tags/t${number}/index/sha256/${small}`)
    of(`web${number}`, `_layers/sha256/${small}`)
  }
  // The first of the layers counts as the layer.
  expect(measured()!.places.get(place)).toBe(65_536 + (100 + 100 + 99) * 32_768)
})
