import { expect, test } from 'vitest'
import { reportTokenNames } from '../../../../../../compiler/compose/load/checks/token-names.ts'
import { Reporter } from '../../../../../../compiler/diagnostics/reporter.ts'
import { parse } from '../../../../../support/schema/check.ts'

const tokensIn = (text: string) => {
  const reporter = new Reporter()
  reportTokenNames(parse(text), reporter)
  return reporter.diagnostics().map(({ code }) => code)
}

test.each([
  'services: {web: {environment: [DEVCTL_TOKEN]}}',
  'services: {web: {environment: {DEVCTL_GIT_TOKEN: }}}',
  'services: {web: {build: {args: [DEVCTL_TOKEN]}}}',
  'services: {web: {pre_start: [{environment: [DEVCTL_TOKEN]}]}}',
  'services: {web: {post_start: [{command: a}, {environment: {DEVCTL_TOKEN: }}]}}',
  'services: {web: {pre_stop: [{environment: [DEVCTL_TOKEN]}]}}',
  'services: {web: {develop: {watch: [{exec: {environment: [DEVCTL_TOKEN]}}]}}}',
  'jobs: {nightly: {environment: [DEVCTL_TOKEN]}}',
  'jobs: {nightly: {build: {args: {DEVCTL_TOKEN: }}}}',
  'secrets: {a: {environment: DEVCTL_TOKEN}}',
  'configs: {a: {environment: DEVCTL_TOKEN}}',
])('the name of a token is reported: %s', text => {
  expect(tokensIn(text)).toEqual(['interpolation/token'])
})

test.each([
  'services: {web: {environment: [DEVCTL_TOKEN=own, TOKEN]}}',
  'services: {web: {pre_start: {environment: [DEVCTL_TOKEN]}}}',
  'services: {web: {labels: [DEVCTL_TOKEN]}}',
  'services: [DEVCTL_TOKEN]',
])('other names and values are not reported: %s', text => {
  expect(tokensIn(text)).toEqual([])
})
