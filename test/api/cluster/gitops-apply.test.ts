import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import type { KubernetesObject } from '../../../constructs/manifest.ts'
import { type Case, unbuiltExamples } from '../../support/cases.ts'
import { untilReady } from '../../support/cluster/application.ts'
import { findCluster, pathOf } from '../../support/cluster/cluster.ts'
import { DOMAIN, defaultServiceAccount, fewExamples } from '../../support/cluster/examples.ts'
import { missingFrom } from '../../support/cluster/kept.ts'
import { list } from '../../support/cluster/objects.ts'
import { playPods } from '../../support/cluster/play-pods.ts'
import { run } from '../../support/run.ts'
import { longTest } from '../../support/takes-all.ts'
import { asWritten } from './as-written.ts'

const cluster = findCluster()

const SERVER_SIDE = ['apply', '--server-side', '--validate=strict']

// The test test/pods/cluster/applied-at-once.test.ts shows that the Pods work.
describe.skipIf(cluster === undefined)('output of render for a repository', () => {
  playPods({ isOurs: namespace => namespace.includes(`-k${process.pid}`) })
  const folder = mkdtempSync(join(tmpdir(), 'devctl-apply-'))
  afterAll(() => {
    cluster?.close()
    rmSync(folder, { recursive: true })
  })

  for (const one of fewExamples()) {
    test.concurrent(`applied at once, ${one.name} becomes ready and equals what \`deploy\` applies`, async ({
      expect,
    }) => {
      const name = `${one.name.replaceAll('/', '-')}-k${process.pid}`
      const deployed = `${name}-deployed`
      const project = projectOf(one, name)
      const target = await project.render()
      const objects = await built(target)
      await Promise.all([cluster!.createNamespace(name), cluster!.createNamespace(deployed)])
      try {
        await Promise.all([defaultServiceAccount(cluster!, name), defaultServiceAccount(cluster!, deployed)])
        await cluster!.kubectl(...SERVER_SIDE, '--kustomize', target)
        await untilReady(cluster!, name, objects, 200)

        const said = await project.devctl('deploy', '--namespace', deployed, '--start-order', 'manifest')
        expect(said.stderr, 'nothing is waited for').not.toMatch(/waiting for|waits for/)
        const there = asWritten(await list(cluster!, deployed), { namespace: deployed, environment: name })
        const ours = asWritten(await list(cluster!, name), { namespace: name, environment: name })
        expect(ours).toEqual(there)
        expect(Object.keys(ours).length).toBe(objects.length)

        // A controller applies the objects again every few minutes, which must change nothing.
        for (const object of objects) {
          const live = JSON.parse((await cluster!.send('GET', pathOf(object, name))).body)
          const again = await cluster!.apply(object, name, { dryRun: true })
          const id = `${object.kind}/${object.metadata.name}`
          expect(again.status, id).toBe(200)
          expect(unmoved(JSON.parse(again.body)), id).toEqual(unmoved(live))
          // Argo CD would always report a difference if a quantity were not in the form of the server.
          expect(missingFrom(live, object), id).toEqual([])
        }
      } finally {
        await Promise.all([cluster!.deleteNamespace(name), cluster!.deleteNamespace(deployed)])
      }
    })
  }

  longTest('each layout builds to the same objects', async () => {
    const guestbook = unbuiltExamples().find(({ name }) => name === 'guestbook')!
    const project = projectOf(guestbook, 'layouts')
    const [plain, single, overlay] = [
      await built(await project.render('--layout', 'plain')),
      await built(await project.render('--layout', 'single-file')),
      await built(join(await project.render('--layout', 'kustomize'), 'environments/test/layouts')),
    ].map(byName)
    expect(Object.keys(plain!).length).toBeGreaterThan(10)
    expect(single).toEqual(plain)
    expect(overlay).toEqual(plain)
    const { stdout } = await project.devctl('render', '--include-secrets', '--format', 'yaml')
    const printed = parseAllDocuments(stdout).map(document => document.toJS())
    expect(Object.keys(plain!)).toEqual(Object.keys(byName(printed)))
  })

  /** Copies an example and adds a manifest that publishes it to a namespace named like the environment. */
  function projectOf({ directory, env }: Case, name: string) {
    const at = join(folder, name)
    cpSync(directory, at, { recursive: true })
    if (existsSync(join(at, 'devctl.yml'))) throw new Error('the example has a manifest of its own')
    const environment = `{namespace: ${name}, domain: ${DOMAIN}, repository: 'https://git.example.com/team/deploy.git'}`
    writeFileSync(join(at, 'devctl.yml'), `name: ${name}\nenvironments:\n  test: ${environment}\n`)
    let count = 0
    const devctl = async (command: string, ...args: readonly string[]) => {
      const words = [command, '--environment', 'test', ...args]
      const result = await run(words, { cwd: at, env: { ...env, KUBECONFIG: process.env.KUBECONFIG ?? '' } })
      expect(result.status, result.stderr).toBe(0)
      return result
    }
    return {
      devctl,
      async render(...args: readonly string[]): Promise<string> {
        const target = join(folder, `${name}-rendered-${++count}`)
        await devctl('render', '--include-secrets', '--output-dir', target, ...args)
        return target
      },
    }
  }
})

async function built(folder: string): Promise<readonly KubernetesObject[]> {
  const text = await cluster!.kubectl('kustomize', folder)
  return parseAllDocuments(text).map(document => document.toJS())
}

function byName(objects: readonly KubernetesObject[]): Readonly<Record<string, KubernetesObject>> {
  const named = objects.map(object => [`${object.kind}/${object.metadata.name}`, object] as const)
  expect(new Set(named.map(([name]) => name)).size).toBe(named.length)
  return Object.fromEntries(named.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Returns an object without the fields that the server changes by itself. */
function unmoved({ metadata, status: _, ...rest }: { metadata: Record<string, unknown>; status?: unknown }): unknown {
  const { managedFields: __, resourceVersion: ___, ...kept } = metadata
  return { ...rest, metadata: kept }
}
