import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import type { Run } from '../../../platform/api/runs.ts'
import { RUNS_NAMESPACE, USERS_NAMESPACE } from '../../../platform/records/names.ts'
import { fromRun, jobRef, LIVE_LABEL, runLabels, type WantedRun } from '../../../platform/records/run.ts'
import { makeUlid } from '../../../platform/rules/ulid.ts'
import { jobSpec } from '../../../platform/server/runs/run-objects.ts'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'
import { generator } from '../../support/cluster/random.ts'
import { openPlatform, type Person, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { askServer, makeServer, type ServerProcess, startServer } from '../../support/platform/server-process.ts'

// Runs two servers as they are installed, each in a separate process, and kills them at random moments. The cluster
// has no node: the test sets the state of the Pods.

/** Number of runs; `npm run test:long` has more. */
const RUNS = Number(process.env.KILLED_RUNS ?? 2)
/** Seed that decides when which server is killed. */
const SEED = Number(process.env.KILLED_SEED ?? 1000)
const found = findCluster()

describe.skipIf(!found)('two servers that are killed', () => {
  console.info(`KILLED_SEED=${SEED}`)
  const folder = mkdtempSync(join(tmpdir(), 'devctl-killed-'))
  const over = new AbortController()
  const servers: (ServerProcess | undefined)[] = [undefined, undefined]
  const ended: string[] = []
  const poisoned: KubeObject[] = []
  let platform: TestPlatform
  let ann: Person
  let [namespace, namespaceUid] = ['', '']
  let playing: Promise<void> | undefined

  beforeAll(async () => {
    platform = await openPlatform()
    ann = await platform.person('ann', 'admin')
    namespace = ann.home
    const live = await platform.cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: namespace })
    namespaceUid = live!.metadata.uid!
    await makeServer(folder, platform, { perUser: 4, inAll: 4 })
  })
  afterAll(async () => {
    over.abort()
    for (const server of servers) server?.process.kill('SIGKILL')
    rmSync(folder, { recursive: true })
    await playing
    if (!platform) return
    for (const { apiVersion, kind, metadata } of poisoned)
      await platform.cluster.delete({ apiVersion, kind, ...metadata }, { propagation: 'Background' })
    for (const run of await platform.parts.runs.list({ namespace }))
      await platform.cluster.delete(jobRef(run.id), { propagation: 'Background' })
    await platform.close()
  })

  async function start(at: number): Promise<void> {
    const server = await startServer(folder)
    server.process.once('exit', (code, signal) => {
      if (!server.isKilled && !over.signal.aborted) ended.push(`${code} ${signal}: ${server.log.slice(-20).join('\n')}`)
    })
    servers[at] = server
  }

  async function kill(at: number): Promise<void> {
    const server = servers[at]!
    server.isKilled = true
    server.process.kill('SIGKILL')
    await once(server.process, 'exit')
  }

  const ask = (server: ServerProcess, path: string, body?: object) =>
    askServer(server, path, { token: ann.token, ...(body && { body }) })

  /** UIDs of the Pods of each run, by the id of the run. */
  const pods = new Map<string, Set<string>>()
  /** Acts as the node: each Pod ends soon. */
  async function play(): Promise<void> {
    const query = {
      apiVersion: 'v1',
      kind: 'Pod',
      namespace: RUNS_NAMESPACE,
      labels: `dev.platform/namespace=${namespace}`,
    }
    while (!over.signal.aborted)
      try {
        for await (const change of platform.cluster.watch(query, { signal: over.signal })) {
          if (change.type !== 'Changed') continue
          const { metadata } = change.object
          const id = (metadata.labels?.['batch.kubernetes.io/job-name'] ?? '').slice('r-'.length)
          const uids = pods.get(id) ?? new Set()
          pods.set(id, uids.add(metadata.uid!))
          const { phase } = (change.object['status'] ?? {}) as { readonly phase?: string }
          if (phase !== 'Succeeded') void succeed(metadata.name)
        }
      } catch (error) {
        if (!over.signal.aborted) await sleep(200, error)
      }
  }
  const ofNode = generator(SEED + 2)
  async function succeed(pod: string): Promise<void> {
    await sleep(ofNode() * 1500)
    const state = { terminated: { exitCode: 0, finishedAt: '2026-01-01T00:00:01Z' } }
    const container = (name: string) => ({ name, image: 'x', imageID: 'x', ready: false, restartCount: 0, state })
    const status = {
      phase: 'Succeeded',
      containerStatuses: [container('clone'), container('run')],
    }
    const path = `/api/v1/namespaces/${RUNS_NAMESPACE}/pods/${pod}/status`
    // A deleted Pod has ended, too.
    await found!.send('PATCH', path, { status }, 'application/merge-patch+json').catch(() => {})
  }

  test(
    `no run of ${RUNS} is lost or started twice, and broken records end no server`,
    async () => {
      await poison()
      await Promise.all([start(0), start(1)])
      playing = play()
      const accepted: string[] = []
      const queueing = (async () => {
        // A separate generator, because both loops run at the same time.
        const random = generator(SEED + 1)
        for (let number = 0; accepted.length < RUNS; number++) {
          const server = servers[Math.floor(random() * 2)]!
          const body = {
            namespace,
            environment: `e${number}`,
            action: 'deploy',
            repository: 'https://git.example.com/team/shop',
          }
          // A request without a response may have created a run nevertheless, which is one more run.
          const answer = await ask(server, '/runs', body).catch(() => undefined)
          if (answer?.status === 200) accepted.push(((await answer.json()) as Run).id)
          else await sleep(answer?.status === 429 ? 1000 : 200)
        }
      })()
      const seen = async () => {
        const all = await platform.parts.runs.list({ namespace })
        return new Map(all.map(run => [run.id, run]))
      }
      let kills = 0
      const killing = (async () => {
        const random = generator(SEED)
        const isDone = async () => {
          const all = await seen()
          return accepted.length >= RUNS && accepted.every(id => all.get(id)?.isSettled)
        }
        while (kills < 2 || !(await isDone())) {
          // Some pauses are long enough for a new leader.
          await sleep(random() * (kills % 3 === 2 ? 30_000 : 4000))
          const leader = servers.findIndex(server => server?.isLeader)
          const at = leader >= 0 && random() < 0.7 ? leader : Math.floor(random() * 2)
          await kill(at)
          kills++
          await start(at)
          expect(ended).toEqual([])
        }
      })()
      await Promise.all([queueing, killing])
      const all = await eventually(
        'all runs are settled',
        async () => {
          const now = await seen()
          return accepted.every(id => now.get(id)?.isSettled) ? now : undefined
        },
        {
          explain: async () => JSON.stringify([...(await seen()).values()].filter(one => !one.isSettled)),
          seconds: 540,
        },
      )
      expect(accepted.map(id => all.get(id)?.state)).toEqual(accepted.map(() => 'succeeded'))
      expect(accepted.map(id => pods.get(id)?.size)).toEqual(accepted.map(() => 1))
      for (const [id, uids] of pods) expect([id, uids.size]).toEqual([id, 1])
      expect(kills).toBeGreaterThanOrEqual(2)
      // Runs that a killed server has half started leave no token and no Secret.
      const tokens = (await platform.parts.tokens.of(ann.id)).filter(one => one.kind === 'run')
      expect(tokens.filter(({ label }) => accepted.includes(label.slice(2)))).toEqual([])
      const secrets = await platform.cluster.list({ apiVersion: 'v1', kind: 'Secret', namespace: RUNS_NAMESPACE })
      const left = secrets.map(({ metadata }) => metadata.name).filter(name => /-(input|clone|held)$/.test(name))
      expect(left.filter(name => accepted.some(id => name.startsWith(`r-${id}-`)))).toEqual([])
      for (const path of ['/runs', '/namespaces', '/users', '/admin/users', `/namespaces/${namespace}`])
        for (const server of servers) expect([path, (await ask(server!, path)).status]).toEqual([path, 200])
      expect(ended).toEqual([])
    },
    300_000 + RUNS * 20_000,
  )

  /** Creates invalid records of each kind. */
  async function poison(): Promise<void> {
    const label = (record: string) => ({ 'dev.platform/record': record, 'dev.platform/managed': 'true' })
    const data = (values: Readonly<Record<string, string>>) =>
      Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]))
    const object = (
      kind: string,
      name: string,
      ns: string | undefined,
      labels: object,
      more: object = {},
    ): KubeObject => ({
      apiVersion: kind === 'Job' ? 'batch/v1' : kind === 'RoleBinding' ? 'rbac.authorization.k8s.io/v1' : 'v1',
      kind,
      metadata: {
        name,
        ...(ns && { namespace: ns }),
        labels: { ...labels },
        ...('annotations' in more && { annotations: more.annotations as Record<string, string> }),
      },
      ...Object.fromEntries(Object.entries(more).filter(([key]) => key !== 'annotations')),
    })
    const id = (letter: string) => letter.repeat(16)
    const wanted = (): WantedRun => ({
      id: makeUlid(Date.now(), crypto.getRandomValues(new Uint8Array(10))),
      namespace,
      namespaceUid,
      environment: 'poison',
      action: 'deploy',
      user: ann.id,
      repository: 'https://git.example.com/x',
    })
    const job = (annotations: Readonly<Record<string, string>>, labels: object = {}): KubeObject => {
      const run = wanted()
      const one = fromRun(run, jobSpec(run, platform.world.settings.runs!))
      const all = { ...one.metadata.annotations, ...annotations }
      return { ...one, metadata: { ...one.metadata, labels: { ...one.metadata.labels, ...labels }, annotations: all } }
    }
    const text = 'dev.platform/'
    const unheld = job({ [`${text}found`]: '[[[', [`${text}other`]: 'x'.repeat(100_000) })
    const all: KubeObject[] = [
      object('Namespace', `poison-a-${RUN}`, undefined, label('namespace'), {
        annotations: { [`${text}owner`]: 'nobody', [`${text}last-active`]: 'never' },
      }),
      object(
        'Namespace',
        `poison-b-${RUN}`,
        undefined,
        { ...label('namespace'), [`${text}status`]: 'Waking' },
        {
          annotations: {
            [`${text}owner`]: id('b'),
            [`${text}last-active`]: 'never',
            [`${text}woken`]: 'x',
            [`${text}asleep`]: '{"kept":7}',
            [`${text}longer-names`]: ',,,\u0001,',
          },
        },
      ),
      object('ServiceAccount', `u-${id('q')}`, USERS_NAMESPACE, label('user'), {
        annotations: { [`${text}issuer`]: 'x', [`${text}role`]: 'root' },
      }),
      object('ServiceAccount', 'u-poison', USERS_NAMESPACE, label('user')),
      object('Secret', `t-${id('q')}`, USERS_NAMESPACE, label('token'), { data: data({ token: 'null' }) }),
      object('Secret', `t-${id('r')}`, USERS_NAMESPACE, label('token'), {
        data: data({ token: '{"kind":"api","hash":7,"expires":"never","created":[]}' }),
      }),
      object('Secret', `x-${id('q')}`, USERS_NAMESPACE, label('one-time'), {
        data: data({ value: '{"kind":"device"' }),
      }),
      object('Secret', `p-${id('q')}`, USERS_NAMESPACE, label('standing'), {
        data: data({ provider: 'x', sealed: 'k1.x.y', asked: '2020-01-01T00:00:00Z' }),
      }),
      object('Secret', 'p-poison', USERS_NAMESPACE, label('standing')),
      object('ServiceAccount', 'ns-poison', RUNS_NAMESPACE, label('run-account')),
      object('Secret', 'r-poison', RUNS_NAMESPACE, { ...label('run-part'), ...runLabels(wanted()) }),
      job({ [`${text}run`]: '{"id":' }),
      job({ [`${text}run`]: 'null', [`${text}stop`]: '{{' }),
      job({}, { [`${text}environment`]: 'another', [LIVE_LABEL]: 'true' }),
      unheld,
      object('Secret', `${unheld.metadata.name}-held`, RUNS_NAMESPACE, {}, { data: data({ variables: '{{' }) }),
      object('RoleBinding', 'poison', namespace, label('member'), {
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'devctl-owner' },
        subjects: [],
      }),
    ]
    for (const one of all) {
      await platform.cluster.create(one)
      poisoned.push(one)
    }
  }
})
