import { expect, test } from 'vitest'
import { toManifests } from '../../../constructs/index.ts'
import { explainField } from '../../../explain/explain-field.ts'
import { Influences } from '../../../explain/influences.ts'
import { compileFiles } from '../../../project/compile-files.ts'
import { makeFolder } from '../../support/cli/folder.ts'

const service = (index: number) => `
  service${index}:
    image: registry.example.com/service${index}:1.0
    command: [serve, --port, "8080"]
    environment: {LEVEL: info, PEER: service${(index + 1) % 10}, TOKEN_FILE: /run/token}
    ports: ["80${index}0:8080"]
    volumes: ["data${index}:/data"]
    healthcheck: {test: [CMD, check], interval: 5s, timeout: 3s, retries: 4}
    deploy: {resources: {limits: {cpus: "0.5", memory: 64m}}}${
      index === 0
        ? ''
        : `
    depends_on: {service${index - 1}: {condition: service_healthy}}`
    }`

const ten = [...Array(10).keys()]
const file = `services:${ten.map(service).join('')}\nvolumes:\n${ten.map(index => `  data${index}:\n`).join('')}`

test('a value of an application of ten services is explained by few plans of it', { timeout: 60_000 }, async () => {
  const workspace = { cwd: makeFolder({ 'compose.yaml': file }), env: {}, readStdin: async () => new Uint8Array() }
  const { loaded, withModel, diagnostics } = await compileFiles(workspace, [], {}, { domain: 'example.com' })
  let plans = 0
  const counted: NonNullable<typeof withModel> = (...changes) => {
    plans++
    return withModel!(...changes)
  }
  const influences = new Influences(loaded!.tree, counted, toManifests)
  const keys = ['spec', 'template', 'spec', 'terminationGracePeriodSeconds']
  const [field] = explainField('workload/service5', keys, { loaded: loaded!, influences, diagnostics, settings: [] })
  expect(field?.rule?.set).toBe('services.service5.stop_grace_period')
  // A plan takes 2 to 4 ms, and all values of the files would take more than 500.
  expect(plans).toBeLessThan(120)
})
