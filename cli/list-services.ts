import type { KubeObject } from '../cluster/cluster.ts'
import { jsonText } from '../compiler/values/printable.ts'
import type { Overview, ServiceState } from '../environment/overview.ts'
import { requireNamespace } from '../operations/namespaces.ts'
import { findEnvironment, type KnownEnvironment } from '../operations/project/known-environment.ts'
import { labelsOf } from '../operations/project/named-services.ts'
import { serviceWords } from '../operations/project/service-words.ts'
import { type SessionOptions, withCluster } from './cluster-session.ts'
import type { Context } from './command.ts'
import type { LoadingValues } from './project-options.ts'
import { printsDiagnostics } from './report.ts'
import { toTable } from './table.ts'

export interface ListValues extends LoadingValues, Omit<SessionOptions, 'timeout'> {
  readonly name: string | undefined
  readonly output: 'json' | undefined
}

/** Prints how the services of an environment are: those that the words name, else all, with those of the files that are not there. */
export async function listServices(context: Context, words: readonly string[], options: ListValues): Promise<number> {
  const { io, logLevel } = context
  const known = await findEnvironment({ workspace: context.io, on: printsDiagnostics(context) }, options)
  return withCluster(io, { ...options, ...known.target, logLevel, timeout: undefined }, async session => {
    const { cluster, namespace, signal, clock } = session
    const { overviewOf } = await import('../environment/overview.ts')
    const now = clock.now()
    const overview = await overviewOf(cluster, { environment: known.name, namespace, now }, { signal })
    if (overview.services.length === 0 && !overview.record) await requireNamespace(session)
    const rows = await rowsOf(overview, words, known)
    if (options.output === 'json') {
      io.stdout.write(`${jsonText(rows.map(toRecord), 2)}\n`)
      return 0
    }
    if (rows.some(isThere)) io.stdout.write(tableOf(rows, now))
    else if (logLevel !== 'error') io.stderr.write(`${known.name} is not deployed in ${namespace}\n`)
    return 0
  })
}

/** A service of the files that is not in the cluster. */
interface Missing {
  readonly service: string
  readonly state: 'missing'
}
type Row = ServiceState | Missing

const isThere = (row: Row): row is ServiceState => row.state !== 'missing'

async function rowsOf(
  { services }: Overview,
  words: readonly string[],
  known: KnownEnvironment,
): Promise<readonly Row[]> {
  const there = new Set(services.map(({ service }) => service))
  const planned = known.project && known.plan ? [...(await labelsOf(known.project)).values()] : []
  const missing = planned.filter(service => !there.has(service))
  const rows: readonly Row[] = [
    ...services,
    ...missing.map((service): Missing => ({ service, state: 'missing' })),
  ].sort((a, b) => (a.service < b.service ? -1 : 1))
  if (words.length === 0) return rows
  const toLabels = await serviceWords(known)
  const wanted = toLabels(
    words,
    rows.map(({ service }) => labelled(service)),
  )
  return rows.filter(({ service }) => wanted.has(service))
}

/** As much of an object as tells its service. */
const labelled = (service: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: service, labels: { 'dev.platform/service': service } },
})

function toRecord(row: Row): object {
  if (!isThere(row)) return { service: row.service, ready: false, state: 'missing' }
  const { service, workload, state, ready, wanted, restarts, since, image, addresses, exposed, internal, reason } = row
  const isReady = state === 'ready' || state === 'complete'
  return {
    service,
    workload,
    ready: isReady,
    state,
    pods: { ready, wanted },
    restarts,
    since,
    image,
    addresses,
    exposed,
    internal,
    ...(reason !== undefined && { reason }),
  }
}

const HEAD = ['Service', 'Kind', 'Ready', 'Restarts', 'Age', 'Image', 'Address', 'Status']

function tableOf(rows: readonly Row[], now: number): string {
  const cells = rows.map(row => {
    if (!isThere(row)) return [row.service, '', '', '', '', '', '', 'not deployed']
    const { service, kind, ready, wanted, restarts, since, image = '', state, reason } = row
    return [
      service,
      kind,
      `${ready}/${wanted}`,
      String(restarts),
      since === undefined ? '' : ageText(now - Date.parse(since)),
      image.replace(/@(sha256:[0-9a-f]{12})[0-9a-f]+$/, '@$1'),
      addressText(row),
      reason === undefined ? state : reason,
    ]
  })
  return toTable([HEAD, ...cells])
}

/** The first address, and how many more there are. */
function addressText({ addresses, exposed, internal }: ServiceState): string {
  const outside = [...addresses, ...exposed]
  const [first = '', ...more] = outside.length > 0 ? outside : internal
  return more.length > 0 ? `${first} +${more.length}` : first
}

/** `42s`, `5m`, `3h`, `12d`: as short as other tables have it. */
function ageText(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000))
  if (seconds < 120) return `${seconds}s`
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)}h`
  return `${Math.floor(seconds / 86_400)}d`
}
