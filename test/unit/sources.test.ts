import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Reporter } from '../../compiler/diagnostics/reporter.ts'
import { parseYaml } from '../../compiler/text/parse.ts'
import { SourceFile } from '../../compiler/text/source.ts'
import type { Tree } from '../../compiler/text/tree.ts'
import { exampleCases, goldenCases, root } from '../support/cases.ts'

/** Returns true if a value has a path of keys; a key may have dots. */
const has = (tree: Tree | undefined, path: string): boolean =>
  tree?.kind === 'map' &&
  [...tree.entries].some(
    ([key, { value }]) => key === path || (path.startsWith(`${key}.`) && has(value, path.slice(key.length + 1))),
  )

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))

/** The sources that manifests name: file and path of keys. */
const sourcesIn = (text: string) =>
  [...text.matchAll(/^# ([^#\n]+\.ya?ml)#(\S+)$/gm)].map(([, file, path]) => [file!, path!])

/** Lists the sources that none of the files in a folder has. */
function wrongSources(folder: string, texts: readonly string[]): readonly string[] {
  const files = filesIn(folder).filter(file => !file.startsWith(join(folder, 'expected/')))
  const trees = new Map<string, readonly (Tree | undefined)[]>()
  const read = (file: string) => {
    const known = trees.get(file)
    if (known) return known
    const documents = parseYaml(new SourceFile(file, readFileSync(file, 'utf8')), new Reporter()) ?? []
    const found = documents.map(({ tree }) => tree)
    trees.set(file, found)
    return found
  }
  const isRight = (file: string, path: string) =>
    files.some(one => one.endsWith(`/${file}`) && read(one).some(tree => has(tree, path)))
  const sources = texts.flatMap(sourcesIn).filter(([file, path]) => !isRight(file!, path!))
  return [...new Set(sources.map(([file, path]) => `${file}#${path}`))]
}

describe('the sources of objects', () => {
  test.each(goldenCases())('every source in $name is a key of its file', ({ directory }) => {
    const expected = filesIn(directory).filter(file => file.startsWith(join(directory, 'expected/')))
    expect(
      wrongSources(
        directory,
        expected.map(file => readFileSync(file, 'utf8')),
      ),
    ).toEqual([])
  })
  test.each(exampleCases())('every source in the example $name is a key of its file', ({ name, directory }) => {
    const text = readFileSync(join(root, 'golden/examples', `${name.replaceAll('/', '-')}.yaml`), 'utf8')
    expect(wrongSources(directory, [text])).toEqual([])
  })
})
