import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../../support/cases.ts'
import { projectFiles } from '../../support/project-files.ts'

/**
 * Texts that look like the path of a module and are none: exports of the package, placeholders, codes of diagnostics.
 */
const OTHER =
  /^(?:devctl\/(?:operations|constructs)|dist\/\w+|golden\/compose\/FAMILY.*|.*\/NAME(?:\.test)?\.ts|routes\/no-domain)$/

const withoutExtension = (path: string) => path.replace(/(?:\.test)?\.(?:tsx?|mjs)$/, '')

const listed = projectFiles()

/** All folders and modules, also by the ends of their paths: `load/decode` is one of them. */
function namesOfModules(): ReadonlySet<string> {
  const names = new Set<string>()
  for (const path of listed) {
    const parts = withoutExtension(path).split('/')
    for (let end = 1; end <= parts.length; end++)
      for (let start = 0; start < end; start++) names.add(parts.slice(start, end).join('/'))
  }
  return names
}

const rooms = readdirSync(root).filter(
  name => existsSync(join(root, name, 'README.md')) && existsSync(join(root, 'test/unit', name)),
)
const documents = ['ARCHITECTURE.md', 'CONTRIBUTING.md', ...rooms.map(room => `${room}/README.md`)]

test.each(documents)('%s names modules and folders that exist', document => {
  const names = namesOfModules()
  const text = readFileSync(join(root, document), 'utf8')
  const missing = [...text.matchAll(/`([a-z][\w-]*(?:\/[\w.-]+)+)\/?`/g)]
    .map(([, path]) => path!)
    .filter(path => !OTHER.test(path) && !names.has(withoutExtension(path)) && !names.has(path))
  expect(missing).toEqual([])
})

test.each(rooms)('the README of %s names functions, types and files that the room has', room => {
  const text = readFileSync(join(root, room, 'README.md'), 'utf8')
  const paths = listed.filter(path => path.startsWith(`${room}/`))
  const sources = paths.filter(path => /\.tsx?$/.test(path)).map(path => readFileSync(join(root, path), 'utf8'))
  const hasName = (name: string) => sources.some(source => new RegExp(`\\b${name}\\b`).test(source))
  const hasFile = (name: string) => paths.some(path => path.endsWith(`/${name}`))
  const names = [...text.matchAll(/`([\w-]+\.tsx?|[a-z]+[A-Z]\w*|[A-Z][a-z]\w*)`/g)].map(([, name]) => name!)
  expect(names.filter(name => !hasName(name) && !hasFile(name))).toEqual([])
  expect(text.split('\n').length).toBeLessThanOrEqual(40)
})
