import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Cluster } from '../../../adapters/kubernetes/cluster.ts'
import { root } from '../../support/cases.ts'
import { few, longTest } from '../../support/takes-all.ts'
import { DEPLOYMENT, give, openPlace, type Place, pendingDeployment, takeOne, withoutServerFields } from './taking.ts'

// Each step of `up` and `down` may be the last one: the next `up`, and `down` from any machine, repair what it leaves.

const RUNS = Number(process.env.KILLED_RUNS ?? 2)
const WRITES = ['apply', 'create', 'replace', 'patch', 'delete'] as const

class Killed extends Error {}

/**
 * Returns the cluster for a process that ends right after its n-th write; dry runs do not count. Concurrent requests
 * are sent one by one, so that the process can end between any two of them.
 */
function cutAfter(cluster: Cluster, count: number): Cluster & { readonly writes: string[] } {
  const writes: string[] = []
  let before: Promise<unknown> = Promise.resolve()
  return new Proxy(cluster as Cluster & { readonly writes: string[] }, {
    get(target, name) {
      if (name === 'writes') return writes
      const member = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      const call = async (args: readonly unknown[]) => {
        if (writes.length >= count) throw new Killed()
        const result = await Reflect.apply(member, target, args)
        const isDry = args.some(one => (one as { dryRun?: boolean } | undefined)?.dryRun)
        if (!isDry && (WRITES as readonly string[]).includes(String(name))) {
          const [about] = args as readonly [{ kind: string }]
          writes.push(`${String(name)} ${about.kind}`)
        }
        return result
      }
      return (...args: unknown[]) => {
        const own = before.then(() => call(args))
        before = own.catch(() => {})
        return own
      }
    },
  })
}

describe.skipIf(!process.env.KUBECONFIG)('killed sessions of `up` and `down`', () => {
  let place: Place
  const taker = join(mkdtempSync(join(tmpdir(), 'taker-')), 'taker.mjs')
  beforeAll(async () => {
    place = await openPlace('killed')
    const banner = { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)" }
    const entryPoints = [join(root, 'test/pods/develop/taker.ts')]
    await build({
      entryPoints,
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile: taker,
      banner,
      logLevel: 'error',
    })
  })
  afterAll(() => place?.close())

  /** Returns the cut cluster. Its `watch` must stay an iterable: only `down` watches. */
  const cut = (count: number) => {
    const cluster = cutAfter(place.cluster, count)
    const watch: Cluster['watch'] = (query, options) => place.cluster.watch(query, options)
    return Object.assign(Object.create(cluster) as Cluster, { watch, writes: cluster.writes }) as Cluster & {
      writes: string[]
    }
  }
  const whole = async (name: string) => withoutServerFields(await place.get(DEPLOYMENT(name)))
  const left = async () => {
    const labels = 'dev.platform/development'
    const kinds = [
      ['apps/v1', 'Deployment'],
      ['v1', 'Secret'],
      ['coordination.k8s.io/v1', 'Lease'],
    ] as const
    const lists = await Promise.all(
      kinds.map(([apiVersion, kind]) => place.cluster.list({ apiVersion, kind, namespace: place.namespace, labels })),
    )
    return lists.flat().map(({ kind, metadata }) => `${kind}/${metadata.name}`)
  }

  const STEPS = ['create Lease', 'apply PersistentVolumeClaim', 'apply Secret', 'patch Deployment', 'apply Deployment']

  const steps = STEPS.map((step, index) => [step, index + 1] as const)
  test.each(few([...steps.slice(3), ...steps.slice(0, 3)]))(
    'after an end at %s, `down` restores the application and `up` continues',
    async (step, count) => {
      const name = `step-${count}`
      await place.apply(pendingDeployment(name))
      const before = await whole(name)
      for (const healing of ['down', 'up'] as const) {
        const cluster = cut(count)
        const dying = takeOne(
          place.session({ cluster, holder: { name: `ann@laptop (${count})`, isGone: () => true } }),
          DEPLOYMENT(name),
          { name },
        )
        if (count < STEPS.length) await expect(dying).rejects.toBeInstanceOf(Killed)
        else await dying
        expect(cluster.writes.at(-1)).toBe(step)
        const session = place.session({ holder: { name: 'ann@laptop (9)', isGone: () => true } })
        if (healing === 'up') {
          const taken = await takeOne(session, DEPLOYMENT(name), { name })
          expect(taken.record.before).toEqual([{ path: ['spec', 'replicas'], value: 2 }])
          await taken.release()
        }
        await give(session, name)
        expect(await whole(name)).toEqual(before)
        expect(await left()).toEqual([])
      }
    },
  )

  longTest('after an end at any write of `down`, another `down` restores the application', async () => {
    const name = 'down'
    await place.apply(pendingDeployment(name))
    const before = await whole(name)
    for (let count = 1; ; count++) {
      const taken = await takeOne(place.session(), DEPLOYMENT(name), { name })
      await taken.release()
      const cluster = cut(count)
      const ended = await give(place.session({ cluster }), name).then(
        () => true,
        error => {
          expect(error).toBeInstanceOf(Killed)
          return false
        },
      )
      // `down` needed fewer writes and was not cut.
      if (ended && cluster.writes.length < count) break
      if (count % 2 === 0) {
        const again = await takeOne(place.session(), DEPLOYMENT(name), { name })
        await again.release()
      }
      await give(place.session(), name)
      expect(await whole(name), cluster.writes.join()).toEqual(before)
      expect(await left()).toEqual([])
    }
  })

  longTest('down keeps an application that was recreated in the meantime, and deletes the mirror', async () => {
    const name = 'again'
    await place.apply(pendingDeployment(name))
    const taken = await takeOne(place.session(), DEPLOYMENT(name), { name })
    await taken.release()
    await place.cluster.delete({ ...DEPLOYMENT(name), namespace: place.namespace }, { propagation: 'Orphan' })
    await expect.poll(() => place.get(DEPLOYMENT(name)), { timeout: 60_000 }).toBeUndefined()
    await place.apply(pendingDeployment(name, { replicas: 1 }))
    const before = await whole(name)
    await give(place.session(), name)
    expect(await whole(name)).toEqual(before)
    expect(await place.get(DEPLOYMENT(`${name}-dev`))).toBeUndefined()
  })

  test(`down restores an application after SIGKILL at ${RUNS} moments of a session`, async () => {
    const name = 'random'
    await place.apply(pendingDeployment(name))
    const before = await whole(name)
    for (let run = 0; run < RUNS; run++) {
      const child = await started(name)
      await new Promise(resolve => setTimeout(resolve, (run * 397) % 1900))
      await ended(child)
      await give(place.session(), name)
      expect(await whole(name), `run ${run}`).toEqual(before)
      expect(await left(), `run ${run}`).toEqual([])
    }
  })

  /** Starts the process, and resolves when it has begun to send requests to the cluster. */
  const started = (name: string): Promise<ChildProcess> =>
    new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [taker, place.namespace, name], { stdio: ['ignore', 'pipe', 'inherit'] })
      child.once('error', reject)
      child.once('exit', code => reject(new Error(`it has ended with ${code}`)))
      child.stdout.once('data', () => resolve(child))
    })

  const ended = (child: ChildProcess): Promise<void> =>
    new Promise(resolve => {
      child.removeAllListeners('exit')
      if (child.exitCode !== null || child.signalCode !== null) return resolve()
      child.once('exit', () => resolve())
      child.kill('SIGKILL')
    })
})
