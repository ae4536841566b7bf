import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, test } from 'vitest'
import { restarted, untilReady } from '../../support/cluster/application.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { DOMAIN, defaultServiceAccount, fewExamples, shows } from '../../support/cluster/examples.ts'
import { documentsOf } from '../../support/documents.ts'
import { run } from '../../support/run.ts'

const cluster = findCluster()

describe.skipIf(cluster === undefined)('manifests with the start order inside, applied at once', () => {
  const folder = mkdtempSync(join(tmpdir(), 'devctl-at-once-'))
  afterAll(() => {
    cluster?.close()
    rmSync(folder, { recursive: true })
  })

  for (const one of fewExamples()) {
    test.concurrent(`${one.name} works, and no container restarts`, async ({ expect }) => {
      const name = `${one.name.replaceAll('/', '-')}-o${process.pid}`
      const options = ['--name', name, '--namespace', name, '--domain', DOMAIN, '--start-order', 'manifest']
      const rendered = await run(['render', '--include-secrets', ...options], { cwd: one.directory, env: one.env })
      expect(rendered.status, rendered.stderr).toBe(0)
      const objects = documentsOf(rendered.stdout).map(({ object }) => object)
      const file = join(folder, `${name}.yaml`)
      writeFileSync(file, rendered.stdout)
      await cluster!.createNamespace(name)
      try {
        await defaultServiceAccount(cluster!, name)
        const options = ['--namespace', name, '--server-side', '--validate=strict', '--filename', file]
        await cluster!.kubectl('apply', ...options)
        await untilReady(cluster!, name, objects, 200)
        expect(await restarted(cluster!, name)).toEqual([])
        await shows[one.name]!(cluster!, name)
      } finally {
        await cluster!.deleteNamespace(name)
      }
    })
  }
})
