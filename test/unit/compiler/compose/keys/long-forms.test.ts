import { expect, test } from 'vitest'
import { loadProject } from '../../../../../compiler/compose/load/load.ts'
import { Reporter } from '../../../../../compiler/diagnostics/reporter.ts'
import { get, isSeq } from '../../../../../compiler/text/tree.ts'
import { treeKey } from '../../../../../compiler/text/tree-text.ts'
import { memoryHost } from '../../../../support/plan/compose.ts'

/** The mount of the service `a` and the codes of the errors, for a project with the given files. */
function mountOf(files: Readonly<Record<string, string>>, named: readonly string[]) {
  const reporter = new Reporter()
  const loaded = loadProject({ workingDirectory: '/project', files: named }, memoryHost(files), reporter)
  const mounts = loaded && get(loaded.tree, 'services', 'a', 'volumes')
  const errors = reporter.diagnostics().filter(({ severity }) => severity === 'error')
  return { mounts: isSeq(mounts) ? mounts.items.map(treeKey) : [], codes: errors.map(({ code }) => code) }
}

const service = 'services: {a: {image: x, volumes: ["v:/data:ro"]}}'
const declared = 'volumes: {v: {}}'

test.each<[string, Readonly<Record<string, string>>]>([
  ['the same file', { 'a.yaml': `${service}\n${declared}` }],
  ['a later file', { 'a.yaml': service, 'b.yaml': declared }],
  ['an earlier file', { 'a.yaml': declared, 'b.yaml': service }],
  [
    'the file of the service that extends it',
    {
      'a.yaml': `services: {a: {extends: {file: base/b.yaml, service: a}}}\n${declared}`,
      'base/b.yaml': service,
    },
  ],
  ['a file that it includes', { 'a.yaml': `include: [v/b.yaml]\n${service}`, 'v/b.yaml': declared }],
])('a volume with a one-letter name may be declared in %s', (_, files) => {
  const named = Object.keys(files).filter(name => !name.includes('/'))
  const { mounts, codes } = mountOf(files, named)
  expect(codes).toEqual([])
  expect(mounts).toHaveLength(1)
  expect(mounts[0]).toContain('"volume"')
})

test('a volume with a one-letter name that no file declares is an error', () => {
  expect(mountOf({ 'a.yaml': service }, ['a.yaml']).codes).toEqual(['reference/undefined'])
})
