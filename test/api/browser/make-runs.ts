import { CoreV1Api, KubeConfig } from '@kubernetes/client-node'
import { MANAGER, RUNS_NAMESPACE, rfc3339 } from '../../../platform/records/names.ts'
import { type FoundRun, fromRun, jobRef, toRun, type WantedRun } from '../../../platform/records/run.ts'
import { makeUlid } from '../../../platform/rules/ulid.ts'
import { KeptLines, saveLog } from '../../../platform/server/runs/run-log.ts'
import { jobSpec } from '../../../platform/server/runs/run-objects.ts'
import { eventually } from '../../support/cluster/cluster.ts'
import type { TestPlatform } from '../../support/platform/open-platform.ts'
import { PICTURES, shown } from './shown.ts'

// Runs as the keeper and the kubelet leave them: their Pods get no node, so what a kubelet would say is written here.

const COMMIT = '4f1c9aa0d3b1c2e4f5a60718293a4b5c6d7e8f90'
/** Texts that try to be more than text, shown as branch names and log lines. */
export const NASTY_BRANCH = shown('<img/src=x/onerror=alert(1)>\u202egnp.exe', 'feature/checkout')
export const NASTY_LINE = shown(
  '</script><img src=x onerror=alert(1)>\u202egnp.exe \u001b]8;;javascript:alert(1)\u001b\\link\u001b]8;;\u001b\\',
  'POST /cart \u001b[32m201\u001b[0m 8 ms',
)

const said = (value: object) => JSON.stringify(value)
const CLONED = ['cloning https://git.example.com/team/shop (main)', `commit ${COMMIT}`]
const BUILT = [
  said({ time: 0.2, type: 'build-begun', name: 'web', reference: 'registry.example.com/ann/shop-web:4f1c9aa' }),
  said({
    time: 0.4,
    type: 'build-step',
    name: 'web',
    step: 1,
    text: '[1/3] FROM node:22',
    state: 'cached',
    seconds: 0,
  }),
  said({ time: 0.5, type: 'build-log', name: 'web', step: 2, text: '\u001b[32madded 214 packages\u001b[0m in 3s' }),
  said({ time: 3.9, type: 'build-ended', name: 'web', outcome: 'built', digest: 'sha256:da812eaacccd', seconds: 3.7 }),
]
const DEPLOYED = [
  said({ time: 4.1, type: 'step', step: 'Planned', text: '1 change, 17 unchanged' }),
  said({ time: 4.2, type: 'waiting', service: 'web', for: ['api'] }),
  said({ time: 4.3, type: 'object', action: 'update', object: 'deployment/web' }),
  said({ time: 4.9, type: 'status', service: 'db', state: 'ready', text: 'StatefulSet 1/1 ready' }),
  said({ time: 5.2, type: 'status', service: 'api', state: 'ready', text: 'Deployment 1/1 ready' }),
  said({ time: 6.8, type: 'output', command: 'seed', stream: 'stdout', text: '\u001b[1;33mseeded\u001b[0m 12 rows' }),
]
const READY = [
  said({ time: 7.1, type: 'status', service: 'web', state: 'ready', text: 'Deployment 1/1 ready' }),
  said({
    time: 7.2,
    type: 'result',
    environment: 'shop',
    namespace: 'ann',
    services: { web: 'ready', api: 'ready', db: 'ready' },
    endpoints: ['https://web-shop.dev.example.com', ...(PICTURES ? [] : ['javascript:alert(document.domain)'])],
  }),
]
const BROKEN = [
  said({ time: 7.1, type: 'status', service: 'api', state: 'failed', text: 'its container exits again and again' }),
  said({
    time: 7.2,
    type: 'diagnostic',
    severity: 'error',
    code: 'deploy/crash-loop',
    message: '`api` exited 3 times with code 1',
    file: 'compose.yaml',
    range: { start: { line: 18, column: 3 }, end: { line: 18, column: 6 } },
    notes: ['the last lines of its log:', '| Error: connect ECONNREFUSED 10.0.0.7:5432'],
    hint: '`devctl logs api` shows more',
  }),
  ...(PICTURES ? [] : [NASTY_LINE, `x${'-very-long'.repeat(300)}`]),
]

/** The runs of a team: one that has succeeded, one that has failed, one that runs, and one that waits. */
export interface TeamRuns {
  readonly good: string
  readonly broken: string
  readonly running: string
  readonly waiting: string
}

export async function makeRuns(platform: TestPlatform, namespace: string, user: string): Promise<TeamRuns> {
  const at = await platform.cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: namespace })
  const namespaceUid = at?.metadata.uid ?? ''
  const wanted = (environment: string, more: Partial<WantedRun> = {}): WantedRun => ({
    id: makeUlid(Date.now(), platform.world.random(10)),
    namespace,
    namespaceUid,
    environment,
    action: 'deploy',
    user,
    repository: 'https://git.example.com/team/shop',
    branch: 'main',
    ...more,
  })
  const broken = await ended(
    platform,
    wanted('shop', { branch: NASTY_BRANCH }),
    'Failed',
    [CLONED, [...DEPLOYED.slice(0, 4), ...BROKEN]],
    {
      reason: '`api` did not get ready: it exited 3 times with code 1',
    },
  )
  const good = await ended(
    platform,
    wanted('shop', { variables: ['GREETING'] }),
    'Succeeded',
    [CLONED, [...BUILT, ...DEPLOYED, ...READY]],
    {},
  )
  const running = wanted('docs')
  await begin(platform, running)
  const waiting = wanted('blog', { action: 'destroy' })
  await create(platform, waiting)
  return { good, broken, running: running.id, waiting: waiting.id }
}

/** Creates a Job that only the test starts, and whose Pod is never scheduled. */
async function create({ own, world }: TestPlatform, wanted: WantedRun): Promise<void> {
  const spec = jobSpec(wanted, world.settings.runs!) as { readonly template: { readonly spec: object } } // a Job's
  const template = { ...spec.template, spec: { ...spec.template.spec, schedulerName: 'nobody' } }
  await own.create(fromRun(wanted, { ...spec, template }))
}

async function begin(platform: TestPlatform, wanted: WantedRun): Promise<void> {
  await create(platform, wanted)
  await platform.own.patch(jobRef(wanted.id), { spec: { suspend: false } }, { manager: MANAGER })
  await eventually(`${wanted.id} runs`, async () => {
    const live = await platform.own.get(jobRef(wanted.id))
    return (live?.['status'] as { readonly startTime?: string } | undefined)?.startTime
  })
}

async function ended(
  platform: TestPlatform,
  wanted: WantedRun,
  phase: 'Succeeded' | 'Failed',
  [clone, run]: readonly [readonly string[], readonly string[]],
  found: FoundRun,
): Promise<string> {
  const { id } = wanted
  await begin(platform, wanted)
  await endPod(platform, id, phase)
  const record = await eventually(`${id} has ended`, async () => {
    const live = await platform.own.get(jobRef(id))
    const known = live && toRun(live)
    return known?.ended === undefined ? undefined : known
  })
  const start = Date.now() - 10_000
  const kept = new KeptLines()
  const all = [
    ...clone.map(text => ({ step: 'clone' as const, text })),
    ...run.map(text => ({ step: 'run' as const, text })),
  ]
  for (const [index, one] of all.entries()) kept.add({ ...one, number: index + 1, time: rfc3339(start + 600 * index) })
  const log = await saveLog(platform.own, record, kept.all())
  await platform.parts.runs.note(id, { commit: COMMIT, log, ...found })
  return id
}

/** Says that the programs of a Pod have ended; again where a controller was faster with the Pod. */
async function endPod({ cluster }: TestPlatform, id: string, phase: 'Succeeded' | 'Failed'): Promise<void> {
  const config = new KubeConfig()
  config.loadFromDefault()
  const core = config.makeApiClient(CoreV1Api)
  const terminated = (exitCode: number) => ({ terminated: { exitCode, startedAt: new Date(), finishedAt: new Date() } })
  const container = (name: string, exitCode: number) => ({
    ...{ name, image: 'x', imageID: 'x', ready: false, restartCount: 0 },
    state: terminated(exitCode),
  })
  await eventually(`the Pod of ${id} has ended`, async () => {
    const labels = `batch.kubernetes.io/job-name=r-${id}`
    const [pod] = await cluster.list({ apiVersion: 'v1', kind: 'Pod', namespace: RUNS_NAMESPACE, labels })
    if (!pod) return undefined
    const { name } = pod.metadata
    const body = await core.readNamespacedPod({ name, namespace: RUNS_NAMESPACE })
    body.status = {
      phase,
      startTime: new Date(),
      containerStatuses: [container('clone', 0), container('run', phase === 'Failed' ? 1 : 0)],
    }
    return core.replaceNamespacedPodStatus({ name, namespace: RUNS_NAMESPACE, body }).then(
      () => true,
      (error: { readonly code?: number }) => {
        if (error.code === 409) return undefined
        throw error
      },
    )
  })
}
