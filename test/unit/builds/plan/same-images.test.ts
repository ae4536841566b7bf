import { expect, test } from 'vitest'
import { NotBuilt } from '../../../../builds/builder/builder.ts'
import type { PlannedBuild } from '../../../../builds/plan/planned-build.ts'
import { refuseSameNames } from '../../../../builds/plan/same-images.ts'

const built = (service: string, reference: string): PlannedBuild => ({
  service,
  span: undefined,
  reference,
  contentReference: `r.example.com/${service}:${service.padEnd(12, '0')}`,
  tags: [],
  dependsOn: [],
  specOf: () => {
    throw new Error('not built')
  },
})

test.each([
  ['r.example.com/web', 'r.example.com/web:latest'],
  ['team/web:1', 'docker.io/team/web:1'],
])('two builds whose images are called %s and %s are refused, because the names are one', (first, second) => {
  expect(() => refuseSameNames([built('a', first), built('b', second)])).toThrow(NotBuilt)
})

test('two builds whose images have different tags are accepted', () => {
  expect(() => refuseSameNames([built('a', 'r.example.com/web:1'), built('b', 'r.example.com/web:2')])).not.toThrow()
})
