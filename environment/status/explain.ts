import type { Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import { Reporter } from '../../compiler/diagnostics/reporter.ts'
import type { UserError } from '../../compiler/diagnostics/user-error.ts'
import { serviceNames } from '../../compiler/plan/object-names.ts'
import type { RequiredSecret } from '../../compiler/plan/plan.ts'
import { entry, get, type Tree } from '../../compiler/text/tree.ts'
import { readableDuration } from '../../compiler/values/numbers/readable-duration.ts'
import type { DesiredWorkload } from '../plan/desired-state.ts'
import { missingSecret } from '../plan/missing-secret.ts'
import type { Attempt } from '../rollout/attempts.ts'
import { firstCheckDelay } from '../rollout/first-check.ts'
import type { ObservedWorkload } from '../rollout/tracker.ts'
import { aboutContainer, toWarning, type Warning } from './events.ts'
import { KINDS } from './failures.ts'
import { type ReportedProblem, remedyOf, remedyOfOnFailure, reportedOf } from './hints.ts'
import { LOG_TIMEOUT, lastLogLines } from './last-log-lines.ts'
import { hasStarted, lastEnd, type Problem } from './problems.ts'

/** Maximum number of warnings shown. */
const WARNINGS = 5
/** Maximum number of problems explained for one workload, which can have any number of containers. */
const MOST_PROBLEMS = 10

/** Workload that fails to become ready, with the known facts. */
export interface ExplainedWorkload {
  readonly workload: Pick<DesiredWorkload, 'service' | 'source' | 'object'>
  readonly tracked: Pick<ObservedWorkload, 'status' | 'pods' | 'problems' | 'warnings' | 'attempt'>
  /** Error about the old object if that was not deleted before the deadline. */
  readonly blocker?: UserError | undefined
}

/**
 * Returns diagnostics that explain why a workload fails to become ready, at its line of the Compose file, with the
 * cluster's warnings and the last lines of the container's log. `required` are the Secrets that the plan expects in the
 * cluster.
 */
export async function explainFailure(
  cluster: Cluster,
  { workload, tracked, blocker }: ExplainedWorkload,
  services: Tree | undefined,
  required: readonly RequiredSecret[] = [],
): Promise<readonly Diagnostic[]> {
  const reporter = new Reporter()
  const explained = { cluster, workload, tracked, services, required, reporter }
  const lead: Member = { service: workload.service, key: keyOfWorkload(workload, services) }
  // Ten replicas that fail for the same reason are reported once.
  const reported = new Set<string>()
  for (const problem of tracked.problems) {
    const { code, container } = problem
    // The container of a member has the member's name in a group.
    const key = container === undefined ? undefined : keyOfService(services, container)
    const member = container === undefined || key === undefined || key === lead.key ? lead : { service: container, key }
    const id = `${code} ${member.key} ${container}`
    if (reported.has(id)) continue
    if (reported.size >= MOST_PROBLEMS) break
    reported.add(id)
    await explainProblem(explained, member, problem)
  }
  if (blocker) explainBlocker(explained, lead, blocker)
  else if (tracked.problems.length === 0) await explainState(explained, lead.key)
  return reporter.diagnostics()
}

/** Service of a workload, with its key in the Compose file. */
interface Member {
  readonly service: string
  readonly key: string
}

const keyOfWorkload = ({ source, service }: ExplainedWorkload['workload'], services: Tree | undefined): string =>
  source.split('#services.')[1] ?? keyOfService(services, service) ?? service

/** Returns the key of a service in the Compose file; `name` is the service's name in the cluster. */
function keyOfService(services: Tree | undefined, name: string): string | undefined {
  if (services?.kind !== 'map') return undefined
  if (services.entries.has(name)) return name
  return [...serviceNames(services.entries.keys())].find(([, other]) => other === name)?.[0]
}

/** Workload to explain, and the reporter for the explanation. */
interface Explained extends ExplainedWorkload {
  readonly cluster: Cluster
  readonly services: Tree | undefined
  readonly required: readonly RequiredSecret[]
  readonly reporter: Reporter
}

/** Reports a problem of a member: the service of the workload, or another service in the same Pod. */
async function explainProblem(
  { cluster, workload, tracked, services, required, reporter }: Explained,
  { service, key }: Member,
  problem: Problem,
): Promise<void> {
  const { code, ends, because, pod } = problem
  const { namespace = '' } = workload.object.metadata
  const warnings = tracked.warnings.map(shown)
  const check = await stoppedBy(cluster, namespace, problem, tracked.warnings)
  const told = await notesOf(cluster, namespace, problem, warnings, check)
  const lacksLog = pod !== undefined && (told.includes(goneText(pod)) || told.includes(emptyText(pod)))
  const kept = lacksLog && code === 'crash-loop' ? await attemptNotes(tracked.attempt) : []
  const notes =
    kept.length > 0 ? [...told.filter(note => note !== goneText(pod!) && note !== emptyText(pod!)), ...kept] : told
  const kind = KINDS[code === 'crash-loop' && ends?.exitCode === 0 && !check ? 'ends-well' : code]
  const { place, ...found } = {
    ...remedyOf(reportedOf(problem, check), get(services, key), service),
    ...missingSecret(problem, workload.object, required),
  }
  const isGone = pod !== undefined && notes.includes(goneText(pod))
  reporter.report(kind, place ?? entry(services, key)?.key, {
    service,
    notes: unique([...notes, ...(because === undefined ? [] : [because])]),
    ...(check && { message: stoppedText(service, ends) }),
    ...found,
    ...(isGone && keepsLog(workload.object)),
    ...(ends && { ends }),
  })
}

/** Reports a workload that was not applied in time, because its old object was not deleted. */
function explainBlocker(
  { services, reporter }: Explained,
  { service, key }: Member,
  { message, notes, hint }: UserError,
): void {
  const remedy = hint === undefined ? {} : { hint }
  reporter.report(KINDS.late, entry(services, key)?.key, { service, notes: [message, ...notes], ...remedy })
}

/** Reports a workload that has failed, or was not ready in time, although no problem is known. */
async function explainState({ cluster, workload, tracked, services, reporter }: Explained, key: string): Promise<void> {
  const { service, object } = workload
  const { namespace = '' } = object.metadata
  const pod = tracked.pods.at(-1)
  const ends = (pod && lastEnd(pod)) ?? tracked.attempt?.ends
  const container = (pod && lastEnd(pod)?.container) ?? (pod && containersOf(pod)[0])
  const live = pod
    ? await logNotes(cluster, namespace, pod, container, false)
    : isStartedAgain(object)
      ? ['its Pod is gone, and its log with it']
      : []
  const lacksLog = !pod || live.includes(goneText(pod)) || live.includes(emptyText(pod))
  const kept = lacksLog ? await attemptNotes(tracked.attempt) : []
  const lines = kept.length > 0 ? kept : live
  const notes = unique([tracked.status.text, ...lines, ...tracked.warnings.slice(-WARNINGS).map(shown)])
  if (tracked.status.state === 'failed') {
    const ended: ReportedProblem | undefined = ends && { code: 'crash-loop', detail: '', ends }
    const { place, ...remedy } = ended ? remedyOf(ended, get(services, key), service) : {}
    const isGone = kept.length === 0 && (!pod || live.includes(goneText(pod)))
    reporter.report(KINDS.failed, place ?? entry(services, key)?.key, {
      service,
      notes,
      ...remedy,
      ...(isGone && keepsLog(object)),
      ...(ends && { ends }),
    })
    return
  }
  const unchecked = lateCheck(object, tracked.warnings)
  const restart = isStartedAgain(object) && !ends && tracked.pods.some(hasStarted) && remedyOfOnFailure(services, key)
  const { place, ...remedy } = restart || { place: undefined, ...(unchecked && { hint: unchecked.hint }) }
  reporter.report(KINDS.late, place ?? entry(services, key)?.key, {
    service,
    notes: [...(unchecked ? [unchecked.note] : []), ...notes],
    ...remedy,
  })
}

/**
 * Returns the note and the hint about a workload that has not been checked yet, because its first health check comes
 * late.
 */
function lateCheck(
  workload: KubeObject,
  warnings: ObservedWorkload['warnings'],
): { note: string; hint: string } | undefined {
  const delay = firstCheckDelay(workload)
  if (delay === 0 || warnings.some(({ reason }) => reason === 'Unhealthy')) return undefined
  return {
    note: `its first health check comes ${readableDuration(delay)} after its start`,
    hint: 'wait longer with `--timeout`, shorten `healthcheck.start_period`, or add `start_interval` to check earlier',
  }
}

/** Returns the notes without duplicates; lines of quoted output are never removed. */
const unique = (notes: readonly string[]): readonly string[] =>
  notes.filter((note, index) => note.startsWith('| ') || notes.indexOf(note) === index)

const shown = ({ about, message }: { readonly about: { kind: string; name: string }; readonly message: string }) =>
  // Removes the trailing colon that the kubelet leaves if a check printed nothing: `Readiness probe failed: `.
  `${about.kind.toLowerCase()}/${about.name}: ${message.replace(/:\s*$/, '')}`

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
      // The kubelet's back-off message adds nothing, unlike the health check that made it kill the container.
      return [...(check ? [check] : []), ...(await logNotes(cluster, namespace, pod!, container, true))]
    }
    case 'serves':
      return [`${detail} waits for it to complete`]
    case 'unhealthy':
      return [own, ...(await logNotes(cluster, namespace, pod!, container, false))]
    case 'configuration':
      // A text can appear in the container's state and in an event, with different prefixes.
      return [own, ...warnings.filter(text => text.startsWith(where) && !text.includes(detail)).slice(-WARNINGS)]
    default:
      return [own]
  }
}

/**
 * Returns the message of the failed check that made the kubelet stop a container; undefined if the program exited
 * without being stopped.
 */
async function stoppedBy(
  cluster: Cluster,
  namespace: string,
  { code, where, pod, container, ends }: Problem,
  warnings: readonly Warning[],
): Promise<string | undefined> {
  if (code !== 'crash-loop' || ends?.reason === 'OOMKilled') return undefined
  const failed = aboutContainer(warnings, container)
    .map(shown)
    .findLast(text => text.startsWith(`${where}: `) && /(?:liveness|startup) probe (?:failed|errored)/i.test(text))
  // A program that exits by itself without an error fails its check, too, and has the same exit code as a program that
  // exits cleanly when it is stopped.
  const isSure = ends?.exitCode !== 0 || !failed || !pod || (await wasStopped(cluster, namespace, pod, container))
  return isSure ? failed : undefined
}

/**
 * Returns true if the kubelet reports that it stopped a container because of a check; false for users without
 * permission to read events. `container` is undefined for any container of the Pod.
 */
async function wasStopped(
  cluster: Cluster,
  namespace: string,
  { metadata }: KubeObject,
  container: string | undefined,
): Promise<boolean> {
  const query = {
    apiVersion: 'v1',
    kind: 'Event',
    namespace,
    fields: `involvedObject.uid=${metadata.uid},reason=Killing`,
  }
  const events = await cluster.list(query, { signal: AbortSignal.timeout(LOG_TIMEOUT) }).catch(() => [])
  const told = aboutContainer(events.map(toWarning), container)
  return told.some(({ message }) => /failed (?:liveness|startup) probe/.test(message))
}

const stoppedText = (service: string, ends: Problem['ends']): string =>
  `\`${service}\` was stopped ${ends?.count ?? 0} times, because its health check failed`

const emptyText = ({ metadata }: KubeObject): string => `pod/${metadata.name} printed nothing`

const goneText = ({ metadata }: KubeObject): string => `pod/${metadata.name} is gone, and its log with it`

/**
 * Returns a hint for a Job whose container the kubelet restarts: when the container has failed too often, the Job
 * controller deletes the Pod with its log. Empty for other workloads.
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

/** Returns the last lines of a container's log, with a heading. */
export async function logNotes(
  cluster: Cluster,
  namespace: string,
  pod: KubeObject,
  container: string | undefined,
  previous: boolean,
): Promise<readonly string[]> {
  if (container === undefined) return []
  const { name } = pod.metadata
  const lines = await lastLogLines(cluster, { pod: name, namespace, container }, previous)
  if (!lines) return [goneText(pod)]
  return lines.length > 0 ? linesOf(name, lines) : [emptyText(pod)]
}

/**
 * Returns the last lines of the log of a Job's last failed attempt, as far as the log was read before the Pod was
 * deleted.
 */
async function attemptNotes(attempt: Attempt | undefined): Promise<readonly string[]> {
  const lines = (await attempt?.lines) ?? []
  return attempt && lines.length > 0 ? linesOf(attempt.pod, lines) : []
}

const linesOf = (pod: string, lines: readonly string[]): readonly string[] => [
  `last lines of pod/${pod}:`,
  ...lines.map(line => `| ${line.replaceAll('\t', '    ')}`),
]

function containersOf({ spec }: KubeObject): readonly string[] {
  const { containers = [] } = (spec ?? {}) as { readonly containers?: readonly { readonly name: string }[] } // a Pod's spec
  return containers.map(({ name }) => name)
}
