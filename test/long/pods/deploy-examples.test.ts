import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, test } from 'vitest'
import { findCluster } from '../../support/cluster/cluster.ts'
import { DOMAIN, defaultServiceAccount, fewExamples, shows } from '../../support/cluster/examples.ts'
import { objectsIn, ownedBy } from '../../support/cluster/objects.ts'
import { type Result, run } from '../../support/run.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

/** Service of each example that no other service needs, which the test changes. */
const leaf: Readonly<Record<string, string>> = {
  guestbook: 'web',
  voting: 'result',
  blog: 'web',
  migration: 'api',
  monorepo: 'gateway',
  'files/list': 'web',
  'files/map': 'admin',
  'files/object': 'web',
  'shared-volume': 'server',
  'queue-worker': 'report',
  shop: 'web',
  networks: 'backup',
  secrets: 'web',
  autoscale: 'web',
  jobs: 'web',
  'cluster-objects': 'web',
}

/** Examples from which this service can be removed: no endpoint leads to it, and nothing else changes. */
const removable = new Set(['voting', 'shared-volume', 'blog', 'guestbook'])

describe.skipIf(cluster === undefined)('the life of an example in the cluster', () => {
  const folder = mkdtempSync(join(tmpdir(), 'devctl-deploy-'))
  afterAll(() => {
    cluster?.close()
    rmSync(folder, { recursive: true })
  })

  for (const one of fewExamples()) {
    test.concurrent(one.name, async ({ expect }) => {
      const name = `${one.name.replaceAll('/', '-')}-d${process.pid}`
      const directory = join(folder, name)
      cpSync(one.directory, directory, { recursive: true })
      probeSeldom(directory)
      const devctl = (command: string, ...args: string[]): Promise<Result> =>
        run([command, ...args, '--name', name, '--namespace', name], {
          cwd: directory,
          env: { ...one.env, KUBECONFIG: process.env.KUBECONFIG ?? '' },
        })
      const deploy = async (...args: string[]): Promise<Result> => {
        const result = await devctl('deploy', '--domain', DOMAIN, '--wait', ...args)
        expect(result.status, result.stderr).toBe(0)
        return result
      }
      const destroy = async (...args: string[]): Promise<Result> => {
        const result = await devctl('destroy', '--wait', ...args)
        expect(result.status, result.stderr).toBe(0)
        return result
      }
      /** Checks that only changed objects are written, and that removed ones are pruned. */
      const changeAll = async (first: Awaited<ReturnType<typeof ownedBy>>) => {
        expect((await deploy()).stderr).toContain('is up to date')
        expect(await ownedBy(cluster!, name, name), 'a second deploy writes nothing').toEqual(first)

        const service = leaf[one.name]!
        change(directory, `${service}:\n    environment:\n      A_CHANGE: "1"`)
        await deploy()
        const second = await ownedBy(cluster!, name, name)
        const written = second.filter(
          ({ id, version }) =>
            first.find(other => other.id === id)?.version !== version && id !== `ConfigMap/devctl-${name}`,
        )
        expect(
          written.map(({ id }) => id),
          'only what changed is written',
        ).toEqual([expect.stringMatching(new RegExp(`^(Deployment|StatefulSet|Job)/${service}`))])

        if (removable.has(one.name)) {
          change(directory, `${service}: !reset null`)
          await deploy()
          const third = await ownedBy(cluster!, name, name)
          expect(third.filter(({ service: other }) => other === service)).toEqual([])
          expect(third.length).toBeGreaterThan(1)
        }
        changeBack(directory)
      }
      await cluster!.createNamespace(name)
      try {
        await defaultServiceAccount(cluster!, name)
        const before = await objectsIn(cluster!, name)

        await deploy()
        await shows[one.name]!(cluster!, name)
        const first = await ownedBy(cluster!, name, name)
        expect(first.length).toBeGreaterThan(2)

        await changeAll(first)
        await destroy()
        const left = await ownedBy(cluster!, name, name)
        expect(left.filter(({ id }) => !isClaim(id))).toEqual([])

        await deploy()
        await shows[one.name]!(cluster!, name, 2)
        await destroy('--volumes')
        const after = await objectsIn(cluster!, name)
        const kept = one.name === 'blog' ? ['PersistentVolumeClaim/database'] : []
        expect(after, 'nothing of ours is left but what asks to be kept').toEqual([...before, ...kept].sort())
        expect((await devctl('destroy')).stderr).toContain('nothing')
      } finally {
        await cluster!.deleteNamespace(name)
      }
    })
  }
})

const CHANGE = 'compose.change.yaml'

/**
 * Makes probes run less often: they cost more than anything else in these examples, several of which share two
 * processors, where the first start of a database takes minutes.
 */
function probeSeldom(directory: string): void {
  for (const file of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    if (!/compose\.ya?ml$/.test(file)) continue
    const path = join(directory, file)
    const text = readFileSync(path, 'utf8').replaceAll(/^ *retries: .*\n/gm, '')
    writeFileSync(path, text.replaceAll(/^( *)interval: [25]s$/gm, '$1interval: 5s\n$1retries: 40'))
  }
}

/** Adds a Compose file over those of the example. */
function change(directory: string, text: string): void {
  writeFileSync(join(directory, CHANGE), `services:\n  ${text}\n`)
  const env = join(directory, '.env')
  const files = existsSync(env) ? /^COMPOSE_FILE=(.*)$/m.exec(readFileSync(env, 'utf8'))?.[1] : undefined
  if (!files?.includes(CHANGE)) appendFileSync(env, `\nCOMPOSE_FILE=${files ?? 'compose.yaml'}:${CHANGE}\n`)
}

/** Restores the example by an empty file. */
function changeBack(directory: string): void {
  writeFileSync(join(directory, CHANGE), 'services: {}\n')
}

const isClaim = (id: string): boolean => id.startsWith('PersistentVolumeClaim/')
