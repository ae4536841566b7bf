import type { KubeObject } from '../cluster/cluster.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import { environmentSelector } from '../environment/labels.ts'
import { leadsOf } from '../environment/part.ts'
import { serviceOf } from '../environment/wanted.ts'
import { deployEvents } from '../operations/deploy/progress.ts'
import type { ServiceStates } from '../operations/deploy/service-states.ts'
import { requireNamespace } from '../operations/namespaces.ts'
import type { SessionOptions } from './cluster-session.ts'
import type { Context } from './command.ts'
import { readableDuration } from './duration-option.ts'
import { findEnvironment } from './environment-of-files.ts'
import { serviceWords } from './live-services.ts'
import { startProgress } from './progress/progress.ts'
import type { LoadingValues } from './project-options.ts'
import { withProject } from './project-session.ts'
import { printDiagnostics, printSummary } from './report.ts'
import { toTerminal } from './terminal-events.ts'

export interface RestartValues extends LoadingValues, SessionOptions {
  readonly name: string | undefined
  readonly wait: boolean
}

/** Makes the Pods of services anew: of those that the words name, else of all. */
export async function restartApplication(
  context: Context,
  words: readonly string[],
  options: RestartValues,
): Promise<number> {
  return withProject(context, { ...options, var: undefined }, async (own, project, session) => {
    const { io, logLevel } = own
    const { cluster, namespace, clock, signal, holder } = session
    const began = clock.now()
    const known = await findEnvironment(own, options, project)
    const environment = known.name
    const progress = await startProgress(io, logLevel, 'text', () => clock.now())
    const { restartServices } = await import('../environment/restart.ts')
    const labels = environmentSelector(environment)
    const services = await cluster.list({ apiVersion: 'v1', kind: 'Service', namespace, labels }, { signal })
    const toLabels = await serviceWords(known)
    const skipped: string[] = []
    const select = (workloads: readonly KubeObject[]): readonly KubeObject[] => {
      if (words.length > 0) return chosen(workloads, toLabels(words, [...workloads, ...services]), leadsOf(services))
      skipped.push(...workloads.filter(isJob).map(one => serviceOf(one)!))
      return workloads.filter(one => !isJob(one))
    }
    const { planned: _, ...events } = deployEvents(
      toTerminal(own, progress, 'text'),
      NOTHING_COUNTED,
      () => {},
      () => clock.now(),
    )
    const result = await restartServices(
      { cluster, environment, namespace, holder, select, wait: options.wait, services: known.services },
      { clock, signal, events },
    ).finally(() => progress.pause())
    const { restarted, failures, failedServices } = result
    if (skipped.length > 0) printSummary(jobsText(skipped), io, logLevel)
    if (restarted.length === 0) {
      await requireNamespace(session)
      throw new UserError(`there is nothing of ${environment} in ${namespace} to restart`, {
        hint: '`devctl deploy` deploys it',
      })
    }
    if (failures.length > 0) {
      printDiagnostics(failures, io, logLevel)
      io.stderr.write(`${failedServices.join(', ')} of ${environment} did not get ready again\n`)
      return 1
    }
    const are = restarted.length === 1 ? 'is' : 'are'
    const took = `${options.wait ? '' : ', not waited for'} (${readableDuration(clock.now() - began)})`
    printSummary(`${restarted.join(', ')} of ${environment} ${are} restarted in ${namespace}${took}`, io, logLevel)
    return 0
  })
}

/** A restart tells of each service by itself. */
const NOTHING_COUNTED: Pick<ServiceStates, 'events'> = { events: { planned() {}, applied() {}, status() {} } }

const isJob = ({ kind }: KubeObject): boolean => kind === 'Job'

const jobsText = (jobs: readonly string[]): string =>
  `left ${jobs.join(', ')} alone: a Job runs again with \`devctl deploy ${jobs.map(one => `--rerun ${one}`).join(' ')}\``

/** The workloads of the named services; a service that runs in the Pods of another one is restarted with these. */
function chosen(
  workloads: readonly KubeObject[],
  labels: ReadonlySet<string>,
  leads: ReadonlyMap<string, string>,
): readonly KubeObject[] {
  const wanted = new Set([...labels].map(label => leads.get(label) ?? label))
  const found = workloads.filter(one => wanted.has(serviceOf(one)!))
  const job = found.find(isJob)
  if (job)
    throw new UserError(`\`${serviceOf(job)}\` is a Job, which runs once`, {
      hint: `\`devctl deploy --rerun ${serviceOf(job)}\` runs it again`,
    })
  const missing = [...wanted].filter(label => !found.some(one => serviceOf(one) === label))
  if (missing.length > 0 && workloads.length > 0)
    throw new UserError(
      `${missing.map(one => `\`${one}\``).join(', ')} ${missing.length === 1 ? 'is' : 'are'} not deployed`,
      {
        hint: `\`devctl deploy ${missing.join(' ')}\` deploys ${missing.length === 1 ? 'it' : 'them'}`,
      },
    )
  return found
}
