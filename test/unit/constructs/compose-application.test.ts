import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App, Chart, JsonPatch } from 'cdk8s'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { ComposeApplication } from '../../../api/constructs.ts'
import { compile } from '../../../compiler/index.ts'
import { toManifests } from '../../../constructs/index.ts'
import { inReadingOrder } from '../../../constructs/key-order.ts'
import { createHost } from '../../../project/node-host.ts'
import { root } from '../../support/cases.ts'

const example = join(root, 'examples/cdk8s')
let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'devctl-construct-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function chart(namespace?: string): Chart {
  return new Chart(new App(), 'chart', namespace === undefined ? {} : { namespace })
}

function composeFile(text: string): string {
  const file = join(folder, 'compose.yaml')
  writeFileSync(file, text)
  return file
}

describe('ComposeApplication', () => {
  test('ComposeApplication puts the objects that `render` prints into the chart', () => {
    const file = join(example, 'compose.yaml')
    const inChart = chart('shop')
    new ComposeApplication(inChart, 'shop', { file, domain: 'dev.example.com' })
    const options = { workingDirectory: root, files: [file], namespace: 'shop', domain: 'dev.example.com' }
    const { plan } = compile(options, createHost({ env: {} }))
    expect(inChart.toJson().map(object => inReadingOrder(object))).toEqual(
      toManifests(plan!).map(({ object }) => object),
    )
  })

  test('workload returns the first CronJob of a job', () => {
    const triggers = 'triggers: {manual: true, schedule: [{cron: "30 3 * * *"}, {cron: "0 5 * * *"}]}'
    const file = composeFile(`
services: {web: {image: nginx}}
jobs: {backup: {image: alpine, command: "true", ${triggers}}}`)
    const application = new ComposeApplication(chart('shop'), 'app', { file })
    const { kind, name } = application.workload('backup')
    expect([kind, name]).toEqual(['CronJob', 'backup'])
    expect(application.workload('web').kind).toBe('Deployment')
  })

  test('ComposeApplication uses the namespace of the chart, unless it is given one', () => {
    const namespaces = (of: Chart) => new Set(of.toJson().map(({ metadata }) => metadata.namespace))
    const file = composeFile('services: {web: {image: nginx}}')
    const one = chart('of-the-chart')
    new ComposeApplication(one, 'app', { file })
    expect(namespaces(one)).toEqual(new Set(['of-the-chart']))
    const other = chart('of-the-chart')
    new ComposeApplication(other, 'app', { file, namespace: 'given' })
    expect(namespaces(other)).toEqual(new Set(['given']))
  })

  test('ComposeApplication throws one Error with all mistakes', () => {
    const file = composeFile('services:\n  web:\n    imagee: nginx\n  api:\n    image: nginx\n    ports: ["99999"]\n')
    let message = ''
    try {
      new ComposeApplication(chart(), 'app', { file })
    } catch (error) {
      message = (error as Error).message
    }
    expect(message).toContain('cannot be compiled')
    expect(message.match(/^error\[/gm)?.length).toBeGreaterThanOrEqual(2)
    expect(message).toContain('did you mean `image`?')
    expect(message).toContain('compose.yaml:6:')
  })

  test('ComposeApplication reports its warnings as data and as text', () => {
    const file = composeFile('services: {web: {image: nginx, ulimits: {nofile: 1024}}}')
    const application = new ComposeApplication(chart('shop'), 'app', { file })
    expect(application.diagnostics.map(({ severity }) => severity)).toContain('warning')
    expect(application.report).toContain('ulimits')
  })

  test('workloads can be patched, and keep the fields that are newer than the typed classes', () => {
    const file = composeFile('services: {web: {image: nginx, security_opt: ["apparmor:unconfined"]}}')
    const inChart = chart('shop')
    const application = new ComposeApplication(inChart, 'app', { file })
    application.workload('web').addJsonPatch(JsonPatch.add('/spec/template/spec/priorityClassName', 'high'))
    const deployment = inChart.toJson().find(({ kind }) => kind === 'Deployment')
    expect(deployment.spec.template.spec.priorityClassName).toBe('high')
    expect(deployment.spec.template.spec.containers[0].securityContext.appArmorProfile).toEqual({ type: 'Unconfined' })
    expect(() => application.workload('api')).toThrow('no service `api`; it has `web`')
  })
})

test('the example of cdk8s synthesizes its objects', async () => {
  cpSync(example, folder, { recursive: true })
  await build({
    entryPoints: [join(example, 'main.mjs')],
    outfile: join(folder, 'main.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    alias: { 'devctl/constructs': join(root, 'api/constructs.ts') },
    banner: {
      js: "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url)",
    },
    logLevel: 'silent',
  })
  const { status, stderr } = spawnSync(process.execPath, ['main.mjs'], { cwd: folder, encoding: 'utf8' })
  expect(stderr).toBe('')
  expect(status).toBe(0)
  const objects = parseAllDocuments(readFileSync(join(folder, 'dist/shop.k8s.yaml'), 'utf8')).map(one => one.toJS())
  const names = objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`)
  expect(names).toEqual(
    expect.arrayContaining(['Deployment/web', 'Deployment/api', 'StatefulSet/db', 'ConfigMap/flags']),
  )
  expect(objects.every(({ metadata }) => metadata.namespace === 'shop')).toBe(true)
  const scaler = objects.find(({ kind }) => kind === 'HorizontalPodAutoscaler')
  expect(scaler.spec.scaleTargetRef).toEqual({ apiVersion: 'apps/v1', kind: 'Deployment', name: 'api' })
  expect(objects.find(({ kind }) => kind === 'Deployment').spec).not.toHaveProperty('replicas')
  expect(objects.find(({ kind }) => kind === 'StatefulSet').spec.podManagementPolicy).toBe('Parallel')
})
