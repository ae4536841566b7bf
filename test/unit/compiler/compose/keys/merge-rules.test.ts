import { expect, test } from 'vitest'
import { loadProject } from '../../../../../compiler/compose/load/load.ts'
import { items, text } from '../../../../../compiler/compose/read/tree-values.ts'
import { Reporter } from '../../../../../compiler/diagnostics/reporter.ts'
import { memoryHost } from '../../../../support/plan/compose.ts'

/** Returns the rules of the endpoints of two merged files, each as `PATH SERVICE`. */
function mergedRules(base: string, override: string): readonly string[] {
  const services = 'services: {a: {image: x}, b: {image: x}}\n'
  const files = { 'compose.yaml': `${services}endpoints: ${base}`, 'compose.override.yaml': `endpoints: ${override}` }
  const { tree } = loadProject({ workingDirectory: '/project' }, memoryHost(files), new Reporter())!
  return items(tree, 'endpoints').map(rule => `${text(rule, 'path')?.value} ${text(rule, 'service')?.value}`)
}

test.each([
  ['/api', '/api', ['/api b']],
  ['/api', '/api/', ['/api/ b']],
  ['/api/', '/api', ['/api b']],
  ['/', '/', ['/ b']],
  ['/', '/api', ['/ a', '/api b']],
])('a rule of an endpoint with the path %s is merged with a later rule with the path %s', (base, override, merged) => {
  const rules = [`[{path: ${base}, service: a, port: 80}]`, `[{path: ${override}, service: b, port: 80}]`] as const
  expect(mergedRules(...rules)).toEqual(merged)
})
