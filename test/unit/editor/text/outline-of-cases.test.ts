import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Reporter } from '../../../../compiler/diagnostics/reporter.ts'
import { parseYaml } from '../../../../compiler/text/parse.ts'
import { SourceFile } from '../../../../compiler/text/source.ts'
import type { Tree } from '../../../../compiler/text/tree.ts'
import { outlineOf } from '../../../../editor/text/outline.ts'
import { pathOf } from '../../../../editor/text/outline-node.ts'
import { exampleCases, goldenCases } from '../../../support/cases.ts'

const files = [...goldenCases(), ...exampleCases()].flatMap(({ name, directory }) => {
  const path = join(directory, 'compose.yaml')
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  // Aliases and tags change the tree, and the outline has all documents of a file in one list.
  return text === '' || /[*!&]\w|^---|<<:|\? /m.test(text) ? [] : [{ name, text }]
})

/** Returns the paths of all keys and items, with the offsets of the keys. */
function* pathsOf(tree: Tree, path: readonly string[] = []): Generator<string> {
  if (tree.kind === 'map')
    for (const [key, entry] of tree.entries) {
      yield `${[...path, key].join('.')} at ${entry.key.start}`
      yield* pathsOf(entry.value, [...path, key])
    }
  else if (tree.kind === 'seq')
    for (const [index, item] of tree.items.entries()) yield* pathsOf(item, [...path, String(index)])
}

describe('the outline of a file has the keys that the parser finds', () => {
  test.each(files)('in $name', ({ text }) => {
    const documents = parseYaml(new SourceFile('compose.yaml', text), new Reporter())
    if (documents?.length !== 1 || !documents[0]?.tree) return
    const quoted = (start: number) => (/["']/.test(text[start - 1] ?? '') ? start - 1 : start)
    const found = outlineOf(text)
      .all.filter(({ kind }) => kind === 'key')
      .map(node => `${pathOf(node).join('.')} at ${quoted(node.start)}`)
    expect(found).toEqual([...pathsOf(documents[0].tree)])
  })
})
