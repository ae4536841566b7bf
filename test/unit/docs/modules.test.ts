import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
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

/** Returns all folders and modules, also by the ends of their paths: `load/decode` is one of them. */
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
  name => name !== 'docs' && existsSync(join(root, name, 'README.md')) && existsSync(join(root, 'test/unit', name)),
)
const designs = listed.filter(path => /(?:^|\/)DESIGN\.md$/.test(path))
const documents = ['ARCHITECTURE.md', 'CONTRIBUTING.md', ...rooms.map(room => `${room}/README.md`), ...designs]

test.each(documents)('%s names modules and folders that exist', document => {
  const names = namesOfModules()
  const text = readFileSync(join(root, document), 'utf8')
  const missing = [...text.matchAll(/`([a-z][\w-]*(?:\/[\w.-]+)+)\/?`/g)]
    .map(([, path]) => path!)
    .filter(path => !OTHER.test(path) && !names.has(withoutExtension(path)) && !names.has(path))
  expect(missing).toEqual([])
})

/** Matches functions, types and files in the notation of code: `mayImport`, `Plan`, `plan.ts`. */
const NAMES = /`([\w-]+\.tsx?|[a-z]+[A-Z]\w*|[A-Z][a-z]\w*)`/g

const sourcesIn = (paths: readonly string[]): readonly string[] =>
  paths.filter(path => /\.tsx?$/.test(path)).map(path => readFileSync(join(root, path), 'utf8'))

/** Returns all words of the sources, without those of tests. */
const wordsOfSources = (): ReadonlySet<string> =>
  new Set(sourcesIn(listed.filter(path => !path.startsWith('test/'))).flatMap(source => source.match(/\w+/g) ?? []))

test('ARCHITECTURE.md and the designs name functions, types and files that exist', () => {
  const words = wordsOfSources()
  const isKnown = (name: string) => words.has(name) || listed.some(path => path.endsWith(`/${name}`))
  const missing = ['ARCHITECTURE.md', ...designs.filter(path => !path.startsWith('test/'))].flatMap(document =>
    [...readFileSync(join(root, document), 'utf8').matchAll(NAMES)]
      .filter(([, name]) => !isKnown(name!))
      .map(([, name]) => `${document} names ${name}`),
  )
  expect(missing).toEqual([])
})

/** Documents of the root whose links are checked. */
const OF_ROOT = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md']

test.each([...rooms.map(room => `${room}/README.md`), ...OF_ROOT, ...designs])(
  'the links of %s lead to files and headings that exist',
  document => {
    const targets = [...readFileSync(join(root, document), 'utf8').matchAll(/\]\((?!https?:)([^)#]*)(#[^)]+)?\)/g)]
    const missing = targets.filter(([, path = '', anchor = '']) => {
      const file = path === '' ? join(root, document) : join(root, dirname(document), path)
      return !existsSync(file) || (anchor !== '' && !anchorsIn(readFileSync(file, 'utf8')).has(anchor))
    })
    expect(missing.map(([link]) => link)).toEqual([])
  },
)

/** Returns the anchors of the headings of a page, as forges make them. */
const anchorsIn = (text: string): ReadonlySet<string> =>
  new Set(
    [...text.matchAll(/^#+ (.+)$/gm)].map(
      ([, heading]) =>
        `#${heading!
          .toLowerCase()
          .replaceAll(/[^\w\s-]/g, '')
          .replaceAll(' ', '-')}`,
    ),
  )

test.each(designs)('the README beside %s links to it', design => {
  const readme = join(root, dirname(design), 'README.md')
  if (existsSync(readme)) expect(readFileSync(readme, 'utf8')).toContain('](DESIGN.md)')
})

test.each(rooms)('the README of %s names functions, types and files that the room has', room => {
  const text = readFileSync(join(root, room, 'README.md'), 'utf8')
  const paths = listed.filter(path => path.startsWith(`${room}/`))
  const sources = sourcesIn(paths)
  const hasName = (name: string) => sources.some(source => new RegExp(`\\b${name}\\b`).test(source))
  const hasFile = (name: string) => paths.some(path => path.endsWith(`/${name}`))
  const names = [...text.matchAll(NAMES)].map(([, name]) => name!)
  expect(names.filter(name => !hasName(name) && !hasFile(name))).toEqual([])
  expect(text.split('\n').length).toBeLessThanOrEqual(40)
})
