import { Reporter } from '../../compiler/diagnostics/reporter.ts'
import { isDeployed } from '../../containers/workloads/not-deployed.ts'
import { unlessForbidden } from '../../environment/forbidden.ts'
import { environmentSelector } from '../../environment/labels.ts'
import type { LogLine } from '../../environment/logs/line.ts'
import { type LogContext, MAX_OPEN_LOGS, showLogs } from '../../environment/logs/logs.ts'
import type { LogSource } from '../../environment/logs/source.ts'
import { type JobOverview, listJobs } from '../../environment/status/jobs.ts'
import type { LoadInput } from '../../project/input.ts'
import { findEnvironment, type KnownEnvironment } from '../../project/known-environment.ts'
import { requireNamespace } from '../../project/namespaces.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { OperationContext } from '../../project/session.ts'
import type { LogEvent } from './events.ts'

export interface LogsInput extends LoadInput {
  /** Name of the environment. If absent, the name in the files. */
  readonly name?: string | undefined
  /** True to read the logs of the full namespace, regardless of environment and tool. */
  readonly all?: boolean | undefined
  /** Pattern of the services to include. If absent, all services. */
  readonly services?: RegExp | undefined
  /** Pattern of the services to exclude. */
  readonly exclude?: RegExp | undefined
  /** Number of lines from the end of each log. If absent, all lines. */
  readonly tail?: number | undefined
  /** Maximum age of lines in milliseconds. If absent or 0, all lines. */
  readonly since?: number | undefined
  /** True to follow new lines until the session's signal is aborted. */
  readonly follow?: boolean | undefined
}

export interface LogsContext extends Pick<OperationContext<LogEvent>, 'workspace' | 'session' | 'on'> {
  /** Called for each line. The next line of the same log is read after the promise resolves. */
  readonly print: (source: LogSource, line: LogLine) => Promise<void> | void
  /** Called with the containers whose logs are read, before the first line of any of them is printed. */
  readonly found?: (sources: readonly LogSource[]) => void
}

export type LogsOutcome =
  /** The requested logs were read to their end. */
  | { readonly kind: 'ended' }
  /** The environment is not in the namespace. */
  | { readonly kind: 'not-deployed'; readonly environment: string; readonly namespace: string }
  /** No service matches; `known` contains the deployed services and those in the files. */
  | {
      readonly kind: 'no-match'
      readonly environment?: string
      readonly namespace: string
      readonly known: readonly string[]
    }

/**
 * Reads the logs of an environment's services: existing lines in the order of their timestamps, then new lines.
 * Resolves when no more lines can come; otherwise rejects with the abort reason of the session's signal. Throws a
 * UserError if the namespace does not exist, and throws if the cluster rejects a request.
 */
export async function logs(world: LogsContext, input: LogsInput, project: OpenProject): Promise<LogsOutcome> {
  const { session, on } = world
  const { cluster, namespace, clock, signal } = session
  const { all, services, tail, since, follow = false } = input
  const environment = all ? undefined : await findEnvironment(world, input, project)
  const names = environment ? await serviceNames(environment) : []
  const isMuted = mutedServices(names, services)
  const whose = { ...(environment && { environment: environment.name }), namespace }
  for (const { name } of isMuted.values()) on({ type: 'left-out', service: name })
  try {
    await showLogs(
      {
        cluster,
        namespace,
        environment: environment?.name,
        range: { tail, since: since || undefined },
        follow,
        isWanted: ({ service, job }) => !isMuted.has(service) && isWanted(service, names, input, job),
      },
      {
        clock,
        signal,
        ...reporting(world, follow),
        found: sources => world.found?.(sources),
        async nothing(present) {
          const jobs = environment ? await deployedJobs(session, environment.name) : []
          const others = [...jobs.map(({ job }) => job), ...names.map(({ name }) => name)]
          const known = new Set([...present.map(({ service }) => service), ...others])
          const wanted = services ? jobs.filter(({ job }) => isWanted(job, names, input)) : []
          const hasMatch =
            wanted.length > 0 || names.some(({ name, label }) => services?.test(name) || services?.test(label))
          if (services && !hasMatch && known.size > 0) throw new NoMatch([...known].sort())
          await requireNamespace(session)
          if (environment && !(await isDeployed(session, environment.name))) throw new NotDeployed()
          if (wanted.length > 0) return on({ type: 'no-run', jobs: wanted, follows: follow })
          on({ type: 'no-pod', ...whose, isFiltered: Boolean(services ?? input.exclude), follows: follow })
        },
      },
    )
    return { kind: 'ended' }
  } catch (error) {
    if (error instanceof NoMatch) return { kind: 'no-match', ...whose, known: error.known }
    if (error instanceof NotDeployed && environment)
      return { kind: 'not-deployed', environment: environment.name, namespace }
    throw error
  }
}

/**
 * Returns the jobs of an environment, and the services that are Jobs, with their runs. Includes runs whose Pods no
 * longer exist.
 */
async function deployedJobs(
  { cluster, namespace, clock, signal }: OperationContext['session'],
  environment: string,
): Promise<readonly JobOverview[]> {
  const labels = environmentSelector(environment)
  const lists = ['CronJob', 'Job'].map(kind =>
    unlessForbidden(cluster.list({ apiVersion: 'batch/v1', kind, namespace, labels }, { signal }), []),
  )
  return listJobs((await Promise.all(lists)).flat(), clock.now())
}

/** Error that stops reading if the environment does not exist. */
class NotDeployed extends Error {}

/** Error that stops reading if no service matches. */
class NoMatch extends Error {
  readonly known: readonly string[]

  constructor(known: readonly string[]) {
    super('no service matches')
    this.known = known
  }
}

/** Returns handlers that pass lines to the caller, and report everything else as events. */
function reporting(
  { on, print }: LogsContext,
  follows: boolean,
): Pick<LogContext, 'print' | 'crowded' | 'ended' | 'troubled' | 'word'> {
  const troubled = new Set<string>()
  let isCrowded = false
  return {
    print(source, line) {
      troubled.delete(source.name)
      return print(source, line)
    },
    crowded() {
      if (!isCrowded) on({ type: 'too-many-logs', most: MAX_OPEN_LOGS })
      isCrowded = true
    },
    ended: (source, exit) => on({ type: 'container-ended', source, exit }),
    troubled(source, error) {
      if (troubled.has(source.name)) return
      troubled.add(source.name)
      on({ type: 'log-unreadable', source, reason: error.message, follows })
    },
    word: (source, text) => on({ type: 'log-note', source, text }),
  }
}

/**
 * Names of a service: `name` in the files, `label` in the cluster. `isAttached` is false for a service with `attach:
 * false`.
 */
interface ServiceName {
  readonly name: string
  readonly label: string
  readonly isAttached: boolean
}

async function serviceNames({ project }: KnownEnvironment): Promise<readonly ServiceName[]> {
  if (!project) return []
  const { planNames } = await import('../../compiler/plan/names.ts')
  const names = planNames(project, {}, new Reporter())
  return [...project.services.values()].map(({ name, attach }) => ({ name, label: names.of(name), isAttached: attach }))
}

/**
 * Returns the services with `attach: false`, by their labels. Empty if there is a pattern, because the user has then
 * named services.
 */
function mutedServices(names: readonly ServiceName[], wanted: RegExp | undefined): ReadonlyMap<string, ServiceName> {
  return new Map(names.filter(({ isAttached }) => !isAttached && !wanted).map(one => [one.label, one]))
}

/**
 * Returns true if one of the names of a service (its label, its name in the files, or the name of its run) matches
 * `services`, and none of them matches `exclude`.
 */
function isWanted(
  label: string,
  names: readonly ServiceName[],
  { services, exclude }: LogsInput,
  job?: string,
): boolean {
  const both = [
    label,
    ...(job === undefined ? [] : [job]),
    ...names.filter(one => one.label === label).map(({ name }) => name),
  ]
  const matched = (regexp: RegExp) => both.some(name => regexp.test(name))
  return (!services || matched(services)) && !(exclude && matched(exclude))
}
