import { expect, test } from 'vitest'
import { loadProject } from '../../../../../compiler/compose/load/load.ts'
import { Reporter } from '../../../../../compiler/diagnostics/reporter.ts'
import { get, isSeq } from '../../../../../compiler/text/tree.ts'
import { memoryHost } from '../../../../support/plan/compose.ts'

/** Returns the arguments of a command, each with the variables that it was made of. */
function argumentsOf(command: string, env = 'A=a\nB=b c\nEMPTY=\n') {
  const reporter = new Reporter()
  const host = memoryHost({ 'compose.yaml': `services: {web: {image: a, command: ${command}}}\n`, '.env': env })
  const loaded = loadProject({ workingDirectory: '/project' }, host, reporter)!
  const words = get(loaded.tree, 'services', 'web', 'command')
  const items = words && isSeq(words) ? words.items : []
  return items.map(one => one.kind === 'scalar' && [one.value, ...(one.variables ?? []).map(({ name }) => name)])
}

test.each([
  ['"run $A -p $B x"', [['run'], ['a', 'A'], ['-p'], ['b', 'B'], ['c', 'B'], ['x']]],
  [
    '\'x$A$B"$A y"z\'',
    [
      ['xab', 'A', 'B'],
      ['ca yz', 'B', 'A'],
    ],
  ],
  ['"${X:-d $A e} f"', [['d', 'X'], ['a', 'X', 'A'], ['e', 'X'], ['f']]],
  ['"a${EMPTY}b \\"$A\\" c"', [['ab', 'EMPTY'], ['a', 'A'], ['c']]],
  ['"no variable"', [['no'], ['variable']]],
])('each argument of %s has the variables that it was made of', (command, expected) => {
  expect(argumentsOf(command)).toEqual(expected)
})

test('arguments after the first thousands of a text share the variables of its end', () => {
  const found = argumentsOf(`"${'$A '.repeat(5_500)}"`)
  expect(found).toHaveLength(5_500)
  expect(found[0]).toEqual(['a', 'A'])
  expect(found.at(-1)).toContain('A')
})
