import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { bundledPackages, licences } from '../../../scripts/third-party.mjs'
import { write } from '../../support/cli/folder.ts'

const folder = mkdtempSync(join(tmpdir(), 'devctl-third-party-'))
afterAll(() => rmSync(folder, { recursive: true }))

write(folder, {
  'node_modules/b/package.json': '{"name": "b", "version": "1.0.0", "license": "MIT"}',
  'node_modules/b/LICENSE': 'Copyright B\r\n',
  'node_modules/b/node_modules/@s/c/package.json':
    '{"name": "@s/c", "version": "2.0.0", "licenses": [{"type": "MIT"}]}',
  'node_modules/b/node_modules/@s/c/license.md': 'Copyright B',
  'node_modules/b/node_modules/@s/c/NOTICE.txt': 'Notice',
  'node_modules/d/package.json': '{"name": "d", "version": "1.0.0", "license": "MIT"}',
  'node_modules/d/LICENSE': 'Copyright B',
  'node_modules/bare/package.json': '{"name": "bare", "version": "3.0.0", "license": "MIT"}',
  'node_modules/nameless/package.json': '{"name": "nameless", "version": "4.0.0"}',
  'node_modules/nameless/LICENSE': 'Text',
})

/** A metafile with one output, made of these inputs. */
const metafile = (inputs: Readonly<Record<string, number>>) => ({
  outputs: {
    'dist/x.js': {
      inputs: Object.fromEntries(Object.entries(inputs).map(([path, bytes]) => [path, { bytesInOutput: bytes }])),
    },
  },
})

test('packages of all bundles are listed once, without those that add no code', () => {
  const found = bundledPackages(
    [
      metafile({ 'src/own.ts': 9, 'node_modules/b/index.js': 1, 'node_modules/b/node_modules/@s/c/lib/x.js': 1 }),
      metafile({ 'node_modules/b/other.js': 2, 'node_modules/bare/index.js': 0 }),
    ],
    folder,
  )
  expect(found.map(({ name, version, licence }) => [name, version, licence])).toEqual([
    ['@s/c', '2.0.0', 'MIT'],
    ['b', '1.0.0', 'MIT'],
  ])
  expect(found[0]!.text).toBe('Notice\n\nCopyright B')
})

test('packages with equal texts share one', () => {
  const text = licences(bundledPackages([metafile({ 'node_modules/b/x.js': 1, 'node_modules/d/x.js': 1 })], folder))
  expect(text).toContain('b 1.0.0 (MIT)\nd 1.0.0 (MIT)\n')
  expect(text.match(/Copyright B/g)).toHaveLength(1)
})

test('a package without a licence or its text fails the build with its name', () => {
  const read = (name: string) => () => bundledPackages([metafile({ [`node_modules/${name}/index.js`]: 1 })], folder)
  expect(read('bare')).toThrow('package bare@3.0.0 in a bundle has no licence text')
  expect(read('nameless')).toThrow('package nameless@4.0.0 in a bundle names no licence')
})
