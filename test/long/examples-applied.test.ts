import { afterAll, describe, test } from 'vitest'
import { unbuiltExamples } from '../support/cases.ts'
import { applyAll, untilReady } from '../support/cluster/application.ts'
import { findCluster } from '../support/cluster/cluster.ts'
import { DOMAIN, defaultServiceAccount, shows } from '../support/cluster/examples.ts'
import { documentsOf } from '../support/documents.ts'
import { run } from '../support/run.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined
if (found !== undefined && cluster === undefined)
  console.warn('the cluster has no nodes: the tests that need Pods are left out')

describe.skipIf(cluster === undefined)('examples applied to the cluster', () => {
  afterAll(() => cluster?.close())

  // A second attempt gets another namespace, since that of the first may still exist.
  let attempts = 0
  for (const one of unbuiltExamples()) {
    test.concurrent(one.name, async ({ expect }) => {
      const namespace = `${one.name.replaceAll('/', '-')}-${process.pid}-${++attempts}`
      const args = ['--name', namespace, '--namespace', namespace, '--domain', DOMAIN, '--include-secrets']
      const { status, stdout, stderr } = await run([one.command, ...args], { cwd: one.directory, env: one.env })
      expect(status, stderr).toBe(0)
      const objects = documentsOf(stdout).map(document => document.object)
      const show = shows[one.name]
      if (show === undefined) throw new Error(`nobody says how ${one.name} shows that it works`)

      await cluster!.createNamespace(namespace)
      try {
        await defaultServiceAccount(cluster!, namespace)
        await applyAll(cluster!, namespace, objects)
        await untilReady(cluster!, namespace, objects, 600)
        await show(cluster!, namespace)
      } finally {
        await cluster!.deleteNamespace(namespace)
      }
    })
  }
})
