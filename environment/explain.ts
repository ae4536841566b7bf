import type { Cluster, KubeObject } from '../cluster/cluster.ts'
import type { Diagnostic } from '../compiler/diagnostics/diagnostic.ts'
import { Reporter } from '../compiler/diagnostics/reporter.ts'
import type { Span } from '../compiler/syntax/source.ts'
import { entry, get, type Tree } from '../compiler/syntax/tree.ts'
import { KINDS } from './failures.ts'
import type { Problem } from './problems.ts'
import type { WorkloadFailed } from './rollout.ts'

/** Lines of a log, and warnings, that are shown. */
const LOG_LINES = 20
const WARNINGS = 5
/** Milliseconds for getting a log: the error it belongs to must not wait for it. */
const LOG_TIMEOUT = 5000

/** Says why a workload does not get ready, at the line of the Compose file that it came from, with the cluster's warnings and the end of its log. */
export async function explainFailure(
  cluster: Cluster,
  { workload, tracked }: WorkloadFailed,
  services: Tree | undefined,
): Promise<readonly Diagnostic[]> {
  const reporter = new Reporter()
  const key = workload.source.split('#services.')[1] ?? workload.service
  const { namespace = '' } = workload.object.metadata
  // Ten replicas that fail for one reason are one failure.
  const told = new Set<string>()
  for (const problem of tracked.problems) {
    const { code, container, detail, ends } = problem
    // The container of a group's member has the member's name.
    const member = container !== undefined && entry(services, container) ? container : key
    const service = member === key ? workload.service : member
    const id = `${code} ${member} ${container}`
    if (told.has(id)) continue
    told.add(id)
    const notes = await notesOf(cluster, namespace, problem, tracked.warnings.map(shown))
    const kind = KINDS[code === 'crash-loop' && ends?.exitCode === 0 ? 'ends-well' : code]
    reporter.report(kind, placeOf(services, member, code), { service, notes, detail, ...(ends && { ends }) })
  }
  if (tracked.problems.length === 0) {
    const pod = tracked.pods.at(-1)
    const lines = pod ? await logNotes(cluster, namespace, pod, containersOf(pod)[0], false) : []
    const notes = [tracked.status.text, ...lines, ...tracked.warnings.slice(-WARNINGS).map(shown)]
    reporter.report(KINDS.failed, placeOf(services, key, undefined), { service: workload.service, notes })
  }
  return reporter.diagnostics()
}

const shown = ({ about, message }: { readonly about: { kind: string; name: string }; readonly message: string }) =>
  `${about.kind.toLowerCase()}/${about.name}: ${message}`

async function notesOf(
  cluster: Cluster,
  namespace: string,
  { code, where, detail, pod, container }: Problem,
  warnings: readonly string[],
): Promise<readonly string[]> {
  const own = `${where}: ${detail}`
  switch (code) {
    case 'crash-loop': {
      // The kubelet's back-off says nothing new, but that the health check had it killed does.
      const checks = warnings.filter(text => text.startsWith(where) && /probe failed/.test(text)).slice(-1)
      return [...checks, ...(await logNotes(cluster, namespace, pod!, container, true))]
    }
    case 'unhealthy':
      return [own, ...(await logNotes(cluster, namespace, pod!, container, false))]
    case 'configuration':
      return [own, ...warnings.filter(text => text.startsWith(where) && text !== own).slice(-WARNINGS)]
    default:
      return [own]
  }
}

/** The smallest text that shows it. */
function placeOf(services: Tree | undefined, service: string, code: Problem['code'] | undefined): Span | undefined {
  const field = code === 'image-pull' ? 'image' : code === 'unhealthy' ? 'healthcheck' : undefined
  const place =
    field && (code === 'unhealthy' ? entry(get(services, service), field)?.key : get(services, service, field)?.span)
  return place ?? entry(services, service)?.key
}

/** The end of a container's log with a line that says so. */
async function logNotes(
  cluster: Cluster,
  namespace: string,
  pod: KubeObject,
  container: string | undefined,
  previous: boolean,
): Promise<readonly string[]> {
  if (container === undefined) return []
  const { name } = pod.metadata
  const lines = await lastLines(cluster, name, namespace, container, previous)
  return lines.length > 0
    ? [`last lines of pod/${name}:`, ...lines.map(line => `| ${line}`)]
    : [`pod/${name} printed nothing`]
}

function containersOf({ spec }: KubeObject): readonly string[] {
  const { containers = [] } = (spec ?? {}) as { readonly containers?: readonly { readonly name: string }[] } // a Pod's spec
  return containers.map(({ name }) => name)
}

/** The end of a container's log; of the running one when there is none any more of the one before. */
async function lastLines(
  cluster: Cluster,
  name: string,
  namespace: string,
  container: string,
  previous: boolean,
): Promise<readonly string[]> {
  const found: string[] = []
  const options = { container, previous, tailLines: LOG_LINES, signal: AbortSignal.timeout(LOG_TIMEOUT) }
  try {
    for await (const line of cluster.logs({ name, namespace }, options)) found.push(line)
  } catch {
    // There may be none; what is known without it is told.
  }
  // The kubelet answers so when the container has been cleaned up.
  const isNone = found.length === 0 || /^unable to retrieve container logs for /.test(found[0]!)
  if (!isNone) return found
  return previous ? lastLines(cluster, name, namespace, container, false) : []
}
