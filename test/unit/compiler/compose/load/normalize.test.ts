import { expect, test } from 'vitest'
import { loadProject } from '../../../../../compiler/compose/load/load.ts'
import { Reporter } from '../../../../../compiler/diagnostics/reporter.ts'
import { isMadeOfSecret } from '../../../../../compiler/text/secret-places.ts'
import { get, isMap, isScalar } from '../../../../../compiler/text/tree.ts'
import { scalarText } from '../../../../../compiler/text/tree-text.ts'
import { memoryHost } from '../../../../support/plan/compose.ts'

/** Loads a service `web` for a platform with the variable `LEVEL`, and returns its value at a path. */
function load(keys: string, path: readonly string[]) {
  const host = memoryHost({ 'compose.yaml': `services: {web: {image: x, ${keys}}}` })
  const variable = (name: string) =>
    name === 'LEVEL' ? ({ value: 'canary two', source: 'platform' } as const) : undefined
  const loaded = loadProject({ workingDirectory: '/project' }, { ...host, variable }, new Reporter())!
  return { secrets: loaded.secrets, value: get(loaded.tree, 'services', 'web', ...path) }
}

test.each([
  ['environment: [LEVEL]', ['environment', 'LEVEL']],
  ['environment: {LEVEL: }', ['environment', 'LEVEL']],
  ['environment: ["LEVEL=$LEVEL"]', ['environment', 'LEVEL']],
  ['build: {context: ., args: [LEVEL]}', ['build', 'args', 'LEVEL']],
  ['build: {context: ., args: {LEVEL: }}', ['build', 'args', 'LEVEL']],
  ['build: {context: ., args: ["LEVEL=$LEVEL"]}', ['build', 'args', 'LEVEL']],
])('the value of a platform variable is secret: %s', (keys, path) => {
  const { secrets, value } = load(keys, path)
  if (!isScalar(value)) throw new Error('no value')
  expect(scalarText(value)).toBe('canary two')
  expect(isMadeOfSecret(value)).toBe(true)
  expect(secrets.without('canary two', value.span)).toBe('***')
})

test.each([
  ['environment: [OTHER]', ['environment'], ['OTHER']],
  ['environment: {OTHER: }', ['environment'], ['OTHER']],
  ['build: {context: ., args: [OTHER, A=1]}', ['build', 'args'], ['A']],
  ['build: {context: ., args: {OTHER: , A: 1}}', ['build', 'args'], ['A']],
])('a variable that is not set stays without a value, and is no build argument: %s', (keys, path, names) => {
  const { value } = load(keys, path)
  expect(isMap(value) && [...value.entries.keys()]).toEqual(names)
})
