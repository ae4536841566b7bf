import { type Cluster, ClusterError, type KubeObject } from '../../adapters/kubernetes/cluster.ts'
import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import { Reporter } from '../../compiler/diagnostics/reporter.ts'
import { entry, get, type Tree } from '../../compiler/text/tree.ts'
import { readableDuration } from '../../compiler/values/readable-duration.ts'
import { toWarning } from './events.ts'
import { KINDS } from './failures.ts'
import { firstCheckDelay } from './first-check.ts'
import { parseLine } from './logs/line.ts'
import { lastEnd, type Problem } from './problems.ts'
import { type ReportedProblem, remedyOf } from './remedies.ts'
import type { Tracked } from './tracker.ts'
import type { WantedWorkload } from './wanted.ts'

/** Lines of a log, and warnings, that are shown. */
const LOG_LINES = 20
const WARNINGS = 5
/** Characters of one of these lines, and of all that is read for them: a program can write a log as a single line. */
const LONGEST_LINE = 4096
const MOST_READ = 1024 * 1024
/** Problems of one workload that are explained: it can have any number of containers. */
const MOST_PROBLEMS = 10
/** Milliseconds for getting a log: the error it belongs to must not wait for it. */
const LOG_TIMEOUT = 5000

/**
 * The kubelet's answers in place of a log: the container was cleaned up, or never created. They are
 * not the program's output.
 */
const KUBELET =
  /^(?:unable to retrieve container logs for |failed to try resolving symlinks in path |container "[^"]+" in pod "[^"]+" is (?:waiting to start|not available)|previous terminated container |rpc error: code = |failed to (?:get|find|open) (?:container|log)|Error from server)/

/** A workload that does not get ready, and what is known about it. */
export interface ExplainedWorkload {
  readonly workload: Pick<WantedWorkload, 'service' | 'source' | 'object'>
  readonly tracked: Pick<Tracked, 'status' | 'pods' | 'problems' | 'warnings'>
}

/**
 * Says why a workload does not get ready, at the line of the Compose file that it came from, with
 * the cluster's warnings and the end of its log.
 */
export async function explainFailure(
  cluster: Cluster,
  { workload, tracked }: ExplainedWorkload,
  services: Tree | undefined,
): Promise<readonly Diagnostic[]> {
  const reporter = new Reporter()
  const key = workload.source.split('#services.')[1] ?? workload.service
  const { namespace = '' } = workload.object.metadata
  // Ten replicas that fail for one reason are one failure.
  const reported = new Set<string>()
  for (const problem of tracked.problems) {
    const { code, container, ends } = problem
    // The container of a group's member has the member's name.
    const member = container !== undefined && entry(services, container) ? container : key
    const service = member === key ? workload.service : member
    const id = `${code} ${member} ${container}`
    if (reported.has(id)) continue
    if (reported.size >= MOST_PROBLEMS) break
    reported.add(id)
    const warnings = tracked.warnings.map(shown)
    const check = await stoppedBy(cluster, namespace, problem, warnings)
    const notes = await notesOf(cluster, namespace, problem, warnings, check)
    const kind = KINDS[code === 'crash-loop' && ends?.exitCode === 0 && !check ? 'ends-well' : code]
    const { place, ...found } = remedyOf({ ...problem, ...(check && { check }) }, get(services, member), service)
    const isGone = problem.pod !== undefined && notes.includes(goneText(problem.pod))
    const remedy = {
      ...(check && { message: stoppedText(service, ends) }),
      ...found,
      ...(isGone && keepsLog(workload.object)),
    }
    const span = place ?? entry(services, member)?.key
    reporter.report(kind, span, { service, notes: unique(notes), ...remedy, ...(ends && { ends }) })
  }
  if (tracked.problems.length === 0) {
    const { service } = workload
    const pod = tracked.pods.at(-1)
    const ends = pod && lastEnd(pod)
    const lines = pod
      ? await logNotes(cluster, namespace, pod, containersOf(pod)[0], false)
      : isStartedAgain(workload.object)
        ? ['its Pod is gone, and its log with it']
        : []
    const isGone = !pod || lines.includes(goneText(pod))
    const notes = unique([tracked.status.text, ...lines, ...tracked.warnings.slice(-WARNINGS).map(shown)])
    const ended: ReportedProblem | undefined = ends && { code: 'crash-loop', detail: '', ends }
    const { place, ...remedy } = ended ? remedyOf(ended, get(services, key), service) : {}
    const span = place ?? entry(services, key)?.key
    if (tracked.status.state === 'failed')
      reporter.report(KINDS.failed, span, {
        service,
        notes,
        ...remedy,
        ...(isGone && keepsLog(workload.object)),
        ...(ends && { ends }),
      })
    else {
      const unchecked = lateCheck(workload.object, tracked.warnings)
      reporter.report(KINDS.late, entry(services, key)?.key, {
        service,
        notes: [...(unchecked ? [unchecked.note] : []), ...notes],
        ...(unchecked && { hint: unchecked.hint }),
      })
    }
  }
  return reporter.diagnostics()
}

/** Returns the note and the hint about a workload that was not checked yet, because its first health check comes late. */
function lateCheck(workload: KubeObject, warnings: Tracked['warnings']): { note: string; hint: string } | undefined {
  const delay = firstCheckDelay(workload)
  if (delay === 0 || warnings.some(({ reason }) => reason === 'Unhealthy')) return undefined
  return {
    note: `its first health check comes ${readableDuration(delay)} after its start`,
    hint: 'wait longer with `--timeout`, shorten `healthcheck.start_period`, or add `start_interval` to check earlier',
  }
}

/** Notes without those that are there already, or whose words another one has. */
const unique = (notes: readonly string[]): readonly string[] =>
  notes.filter((note, index) => note.startsWith('| ') || notes.indexOf(note) === index)

const shown = ({ about, message }: { readonly about: { kind: string; name: string }; readonly message: string }) =>
  `${about.kind.toLowerCase()}/${about.name}: ${message}`

async function notesOf(
  cluster: Cluster,
  namespace: string,
  problem: Problem,
  warnings: readonly string[],
  check: string | undefined,
): Promise<readonly string[]> {
  const { code, where, detail, pod, container } = problem
  const own = `${where}: ${detail}`
  switch (code) {
    case 'crash-loop': {
      // The kubelet's back-off says nothing new, but that the health check had it killed does.
      return [...(check ? [check] : []), ...(await logNotes(cluster, namespace, pod!, container, true))]
    }
    case 'serves':
      return [`${detail} waits for it to complete`]
    case 'unhealthy':
      return [own, ...(await logNotes(cluster, namespace, pod!, container, false))]
    case 'configuration':
      // The same words come as the state of the container and as an event, each with another
      // beginning.
      return [own, ...warnings.filter(text => text.startsWith(where) && !text.includes(detail)).slice(-WARNINGS)]
    default:
      return [own]
  }
}

/** The message of the check that had a container stopped; undefined when it ended by itself. */
async function stoppedBy(
  cluster: Cluster,
  namespace: string,
  { code, where, pod, ends }: Problem,
  warnings: readonly string[],
): Promise<string | undefined> {
  if (code !== 'crash-loop' || ends?.reason === 'OOMKilled') return undefined
  const failed = warnings.findLast(
    text => text.startsWith(`${where}: `) && /(?:liveness|startup) probe (?:failed|errored)/i.test(text),
  )
  // A program that ends by itself without an error fails its check, too; one that ends in good
  // order when it is stopped has the same status.
  const isSure = ends?.exitCode !== 0 || !failed || !pod || (await wasStopped(cluster, namespace, pod))
  return isSure ? failed : undefined
}

/**
 * True if the kubelet says that it stopped a container of the Pod because of a check; false for
 * users who may not read events.
 */
async function wasStopped(cluster: Cluster, namespace: string, { metadata }: KubeObject): Promise<boolean> {
  const query = {
    apiVersion: 'v1',
    kind: 'Event',
    namespace,
    fields: `involvedObject.uid=${metadata.uid},reason=Killing`,
  }
  const events = await cluster.list(query, { signal: AbortSignal.timeout(LOG_TIMEOUT) }).catch(() => [])
  return events.some(event => /failed (?:liveness|startup) probe/.test(toWarning(event).message))
}

const stoppedText = (service: string, ends: Problem['ends']): string =>
  `\`${service}\` was stopped ${ends?.count ?? 0} times, because its health check failed`

const goneText = ({ metadata }: KubeObject): string => `pod/${metadata.name} is gone, and its log with it`

/**
 * A hint about a log that is gone: the Job controller deletes a Pod that has failed too often if
 * the kubelet is to restart its container.
 */
const keepsLog = (workload: KubeObject): { readonly hint?: string } =>
  isStartedAgain(workload)
    ? {
        hint: 'Kubernetes deletes the Pod of this Job with its log when it fails; with `restart: "no"` the Pod stays',
      }
    : {}

function isStartedAgain({ kind, spec }: KubeObject): boolean {
  const { template } = (spec ?? {}) as { readonly template?: { readonly spec?: { readonly restartPolicy?: string } } } // a workload's spec
  return kind === 'Job' && template?.spec?.restartPolicy === 'OnFailure'
}

/** The end of a container's log with a line that says so. */
export async function logNotes(
  cluster: Cluster,
  namespace: string,
  pod: KubeObject,
  container: string | undefined,
  previous: boolean,
): Promise<readonly string[]> {
  if (container === undefined) return []
  const { name } = pod.metadata
  const lines = await lastLines(cluster, name, namespace, container, previous)
  if (!lines) return [goneText(pod)]
  return lines.length > 0
    ? [`last lines of pod/${name}:`, ...lines.map(line => `| ${line.replaceAll('\t', '    ')}`)]
    : [`pod/${name} printed nothing`]
}

function containersOf({ spec }: KubeObject): readonly string[] {
  const { containers = [] } = (spec ?? {}) as { readonly containers?: readonly { readonly name: string }[] } // a Pod's spec
  return containers.map(({ name }) => name)
}

/** Copies the beginning of a line: a part of a text would keep the whole of it in memory. */
const shortened = (line: string): string =>
  line.length > LONGEST_LINE ? `${Buffer.from(line.slice(0, LONGEST_LINE)).toString()}…` : Buffer.from(line).toString()

/**
 * The end of a container's log; of the running one when there is none any more of the one before.
 */
async function lastLines(
  cluster: Cluster,
  name: string,
  namespace: string,
  container: string,
  previous: boolean,
): Promise<readonly string[] | undefined> {
  const found: string[] = []
  const options = {
    ...{ container, previous, tailLines: LOG_LINES, longestLine: LONGEST_LINE, timestamps: true },
    signal: AbortSignal.timeout(LOG_TIMEOUT),
  }
  let read = 0
  let isStamped = false
  try {
    for await (const piece of cluster.logs({ name, namespace }, options)) {
      const line = parseLine(piece)
      isStamped ||= line !== undefined
      const text = line?.text ?? piece
      // A piece without a time stamp after one that has it is the rest of an overlong line.
      if ((line || !isStamped) && !KUBELET.test(text)) found.push(shortened(text))
      read += piece.length
      if (found.length >= LOG_LINES || read > MOST_READ) break
    }
  } catch (error) {
    if (error instanceof ClusterError && error.failure === 'not-found') return undefined
    // There may be none; what is known without it is reported.
  }
  if (found.length > 0) return found
  return previous ? lastLines(cluster, name, namespace, container, false) : []
}
