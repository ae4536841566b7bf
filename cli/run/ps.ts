import type { ServiceOverview } from '../../environment/status/service-status.ts'
import type { ServiceRow } from '../../operations/list/services.ts'
import type { Context } from '../command.ts'
import type { ListValues } from '../commands/ps.ts'
import { ageText } from '../terminal/age-text.ts'
import { listText } from '../terminal/print-list.ts'
import { cut, widthOf } from '../terminal/progress/frame.ts'
import { printsDiagnostics } from '../terminal/report.ts'
import { toTable } from '../terminal/table.ts'
import { withProject } from './project-session.ts'

/**
 * Prints the status of the named services of an environment, or of all its services, including services that are in the
 * files but not deployed.
 */
export async function listServices(context: Context, words: readonly string[], options: ListValues): Promise<number> {
  const { io, logLevel } = context
  return withProject(context, { ...options, var: undefined, timeout: undefined }, async (own, project, session) => {
    const { services } = await import('../../operations/list/services.ts')
    const world = { workspace: own.io, session, on: printsDiagnostics(own) }
    const {
      environment,
      namespace,
      services: rows,
      onlyJobs,
      now,
    } = await services(world, { ...options, services: words }, project)
    if (options.output === 'json' || rows.some(isThere)) {
      const text = () => (options.output === 'wide' ? wideTable(rows, now) : tableOf(rows, now, io.stdout.columns))
      const list = { records: rows.map(toRecord), names: rows.map(({ service }) => service), text }
      io.stdout.write(await listText(options.output, list))
    } else if (logLevel !== 'error') {
      const state = onlyJobs
        ? `has only jobs in ${namespace}; \`devctl jobs\` lists them`
        : `is not deployed in ${namespace}`
      io.stderr.write(`${environment} ${state}\n`)
    }
    return 0
  })
}

const isThere = (row: ServiceRow): row is ServiceOverview => row.state !== 'missing'

function toRecord(row: ServiceRow): object {
  if (!isThere(row)) return { service: row.service, ready: false, state: 'missing' }
  const {
    service,
    workload,
    state,
    ready,
    wanted,
    restarts,
    since,
    image,
    addresses,
    exposed,
    internal,
    reason,
    development,
  } = row
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
    ...(development !== undefined && { development }),
    ...(reason !== undefined && { reason }),
  }
}

const HEAD = ['Service', 'Kind', 'Ready', 'Restarts', 'Age', 'Image', 'Address', 'Status']

const IMAGE = HEAD.indexOf('Image')
/** Minimum width of the image column in a narrow terminal. */
const LEAST_IMAGE = 12

/**
 * Formats the services as a table. `columns` is the width of the terminal, if there is one; images are truncated first.
 */
export function tableOf(rows: readonly ServiceRow[], now: number, columns: number | undefined): string {
  const table = [
    HEAD,
    ...rows.map(row => cellsOf(row, now, image => image.replace(/@(sha256:[0-9a-f]{12})[0-9a-f]+$/, '@$1'), firstOf)),
  ]
  const text = toTable(table)
  if (columns === undefined) return text
  const widest = (lines: readonly string[]) => Math.max(...lines.map(widthOf))
  const tooMuch = Math.max(0, widest(text.split('\n')) - columns)
  const left = Math.max(LEAST_IMAGE, widest(table.map(row => row[IMAGE]!)) - tooMuch)
  const narrow = toTable(table.map(row => row.map((cell, index) => (index === IMAGE ? cut(cell, left) : cell))))
  return narrow
    .split('\n')
    .map(line => cut(line, columns))
    .join('\n')
}

/** Formats the services as a table with whole digests and all addresses, whatever the width of the terminal. */
export const wideTable = (rows: readonly ServiceRow[], now: number): string =>
  toTable([
    HEAD,
    ...rows.map(row =>
      cellsOf(
        row,
        now,
        image => image,
        addresses => addresses.join(', '),
      ),
    ),
  ])

function cellsOf(
  row: ServiceRow,
  now: number,
  imageText: (image: string) => string,
  addressText: (addresses: readonly string[]) => string,
): readonly string[] {
  if (!isThere(row)) return [row.service, '', '', '', '', '', '', 'not deployed']
  const { service, kind, ready, wanted, restarts, since, image = '', state, addresses, exposed, internal } = row
  const outside = [...addresses, ...exposed]
  return [
    service,
    kind,
    `${ready}/${wanted}`,
    String(restarts),
    since === undefined ? '' : ageText(now - Date.parse(since)),
    imageText(image),
    addressText(outside.length > 0 ? outside : internal),
    statusText(row) ?? state,
  ]
}

/**
 * Returns the status of a service: that it is in development (`in development (devctl up), ann@laptop`), the reason why
 * it is not ready, or both. Undefined if neither applies.
 */
function statusText({ reason, development, state }: ServiceOverview): string | undefined {
  if (development === undefined) return reason ?? (state === 'stopped' ? 'stopped: no replicas' : undefined)
  const by = `in development (devctl up)${development && `, ${development}`}`
  return reason === undefined ? by : `${by}: ${reason}`
}

/** Returns the first address, followed by the number of further addresses if there are any: `localhost:8080 +2`. */
function firstOf([first = '', ...more]: readonly string[]): string {
  return more.length > 0 ? `${first} +${more.length}` : first
}
