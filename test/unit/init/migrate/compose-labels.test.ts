import { describe, expect, test } from 'vitest'
import { Reporter } from '../../../../compiler/diagnostics/reporter.ts'
import { parseYaml } from '../../../../compiler/text/parse.ts'
import { SourceFile } from '../../../../compiler/text/source.ts'
import { isMap, type MapTree } from '../../../../compiler/text/tree.ts'
import { ComposeEdits, portsOf } from '../../../../init/migrate/compose-labels.ts'

function treeOf(text: string): MapTree {
  const tree = parseYaml(new SourceFile('compose.yaml', text), new Reporter())?.[0]?.tree
  if (!isMap(tree)) throw new Error(`${text} is not a mapping`)
  return tree
}

describe('keys without a value', () => {
  test.each(['', 'null', '~'])('portsOf treats `%s` like a missing value', nothing => {
    const [port] = portsOf(treeOf(`ports: [{target: 80, published: ${nothing}, host_ip: ${nothing}}]`))
    expect(port).toEqual({ index: 0, target: 80, isLong: true, hasExpose: false })
  })

  test.each(['', 'null', '""'])('addRule adds no rule that exists with the host `%s`', nothing => {
    const model = treeOf(`endpoints: [{service: web, path: /, port: 80, host: ${nothing}}]`)
    const edits = new ComposeEdits(model, new Reporter())
    edits.addRule('web', { path: '/', port: 80 })
    expect(edits.edits).toEqual([])
  })
})
