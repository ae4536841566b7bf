import { expect, test } from 'vitest'
import { compile } from '../../../../compiler/index.ts'
import { readManifest } from '../../../../compiler/manifest/read.ts'
import { createHost } from '../../../../project/node-host.ts'
import { makeFolder } from '../../../support/cli/folder.ts'
import { memoryHost } from '../../../support/plan/compose.ts'

function read(manifest: string) {
  const folder = makeFolder({ 'devctl.yml': manifest })
  return readManifest({ path: `${folder}/devctl.yml`, workingDirectory: folder }, createHost({ env: {} }))
}

test.each([
  'environments: {prod: {variables: {A: 1.10}}}',
  'environments: {prod: {routeAnnotations: {a: 1.10}}}',
  'build: {web: {context: ., args: {A: 1.10}}}',
  'dependencies: {api: {repository: "https://example.com/api", variables: {A: 1.10}}}',
  'dev: {api: {environment: {A: 1.10}}}',
  'dev: {api: {nodeSelector: {a: 1.10}}}',
])('a number that YAML rewrites is reported: %s', text => {
  expect(read(text).diagnostics.map(({ code, message }) => `${code}: ${message}`)).toEqual([
    'yaml/rewritten-value: `1.10` is read as the number 1.1',
  ])
})

test('a label of an endpoint that YAML rewrites is reported', () => {
  const { manifest } = read('deploy: {endpoints: {labels: {size: 1.10}, rules: [{path: /, service: web, port: 80}]}}')
  const host = memoryHost({ 'compose.yaml': 'services: {web: {image: x}}' })
  const endpoints = manifest!.deploy!.endpoints!
  const { diagnostics } = compile({ workingDirectory: '/project', until: 'loaded', manifest: { endpoints } }, host)
  expect(diagnostics.map(({ code }) => code)).toEqual(['yaml/rewritten-value'])
})

test('numbers in variables have the text that the warning names', () => {
  const { manifest, diagnostics } = read(
    'environments: {prod: {variables: {A: 1e6, B: 0644, C: 1.5, D: "1.10", E: true}}}',
  )
  const values = manifest!.environments.get('prod')!.variables.map(({ value }) => value)
  expect(values).toEqual(['1e+06', '420', '1.5', '1.10', 'true'])
  expect(diagnostics.map(({ message }) => message)).toEqual([
    '`1e6` is read as the number 1e+06',
    '`0644` is read as the number 420',
  ])
})
