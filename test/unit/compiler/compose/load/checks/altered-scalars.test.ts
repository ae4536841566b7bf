import { expect, test } from 'vitest'
import { reportAlteredScalars } from '../../../../../../compiler/compose/load/checks/altered-scalars.ts'
import { Reporter } from '../../../../../../compiler/diagnostics/reporter.ts'
import { parse, pointsAt } from '../../../../../support/schema/check.ts'

const alteredIn = (text: string) => {
  const reporter = new Reporter()
  reportAlteredScalars(parse(text), reporter)
  return reporter.diagnostics().map(pointsAt)
}

test.each([
  'services: {web: {environment: {A: 1.10}}}',
  'services: {web: {build: {args: {A: 1.10}}}}',
  'services: {web: {pre_start: [{environment: {A: 1.10}}]}}',
  'services: {web: {post_start: [{environment: {A: 1.10}}]}}',
  'services: {web: {pre_stop: [{environment: {A: 1.10}}]}}',
  'services: {web: {develop: {watch: [{exec: {environment: {A: 1.10}}}]}}}',
  'services: {web: {volumes: [{volume: {labels: {a: 1.10}}}]}}',
  'services: {web: {ports: [80, {x-expose: {annotations: {a: 1.10}}}]}}',
  'services: {web: {x-node-selector: {version: 1.10}}}',
  'jobs: {nightly: {environment: {A: 1.10}}}',
  'jobs: {nightly: {x-node-selector: {version: 1.10}}}',
  'endpoints: {labels: {a: 1.10}, rules: []}',
  'endpoints: {shop: {labels: {a: 1.10}, rules: []}}',
  'networks: {a: {labels: {b: 1.10}}}',
  'volumes: {a: {labels: {b: 1.10}}}',
  'secrets: {a: {labels: {b: 1.10}}}',
  'configs: {a: {labels: {b: 1.10}}}',
])('a number that YAML rewrites is reported: %s', text => {
  expect(alteredIn(text)).toEqual(['1.10'])
})

test.each([
  'services: {web: {environment: {A: "1.10", B: 1.5, C: 12, D: true}}}',
  'services: {web: {mem_limit: 1.10, environment: [A=1.10]}}',
  'endpoints: {labels: [{path: 1.10}]}',
])('values that keep their text are not reported: %s', text => {
  expect(alteredIn(text)).toEqual([])
})
