import type { Amounts, ContainerUsage } from '../../operations/list/usage.ts'
import type { Context } from '../command.ts'
import type { TopValues } from '../commands/top.ts'
import { listText } from '../terminal/print-list.ts'
import { printsDiagnostics } from '../terminal/report.ts'
import { toTable } from '../terminal/table.ts'
import { withProject } from './project-session.ts'

/** Prints the usage of CPU and memory of the named services, or of all deployed services. */
export async function showUsage(context: Context, services: readonly string[], options: TopValues): Promise<number> {
  return withProject(context, { ...options, var: undefined, timeout: undefined }, async (own, project, session) => {
    const { resourceUsage } = await import('../../operations/list/usage.ts')
    const world = { workspace: own.io, session, on: printsDiagnostics(own) }
    const rows = await resourceUsage(world, { ...options, services }, project)
    if (rows.length === 0 && own.logLevel !== 'error') own.io.stderr.write('no Pod is running\n')
    if (rows.length === 0 && options.output === 'text') return 0
    const names = [...new Set(rows.map(({ pod }) => pod))]
    own.io.stdout.write(await listText(options.output, { records: rows, names, text: () => usageTable(rows) }))
    return 0
  })
}

const HEAD = ['Service', 'Pod', 'Container', 'CPU', 'Requested', 'Limit', 'Memory', 'Requested', 'Limit']

/** Formats the usage of containers as a table with the units of `kubectl top`, next to requests and limits. */
export const usageTable = (rows: readonly ContainerUsage[]): string =>
  toTable([
    HEAD,
    ...rows.map(({ service, pod, container, usage, requests, limits }) => [
      service,
      pod,
      container,
      ...[usage, requests, limits].map(cpuText),
      ...[usage, requests, limits].map(memoryText),
    ]),
  ])

const cpuText = ({ cpu }: Amounts): string => (cpu === undefined ? '-' : `${Math.ceil(cpu * 1000)}m`)
const memoryText = ({ memory }: Amounts): string => (memory === undefined ? '-' : `${Math.ceil(memory / 2 ** 20)}Mi`)
