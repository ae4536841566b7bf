import { UserError } from '../compiler/diagnostics/user-error.ts'
import { jsonText } from '../compiler/values/printable.ts'
import type { DeployEvents } from '../environment/deploy.ts'
import type { Address } from '../environment/endpoints/routes.ts'
import type { Unready } from '../environment/fresh-chance.ts'
import type { Session } from './cluster-session.ts'
import type { Context } from './command.ts'
import { type CompiledForCluster, choicesOf, report } from './compile-for-cluster.ts'
import { Outcome, type ServiceState } from './deploy-outcome.ts'
import { addressesInOrder, stoppedText, toProgress } from './deploy-progress.ts'
import type { DeployValues } from './deploy-values.ts'
import { readableDuration } from './duration-option.ts'
import type { Io } from './io.ts'
import type { Progress } from './progress/events.ts'
import { printSummary } from './report.ts'

/** Applies what was compiled, and tells how it went. With `isHeld` the caller has the environment's Lease. */
export async function applyCompiled(
  context: Context,
  options: DeployValues,
  compiled: CompiledForCluster,
  session: Session,
  progress: Progress,
  { began, isHeld, signal }: { readonly began: number; readonly isHeld: boolean; readonly signal: AbortSignal },
): Promise<number> {
  const { io, logLevel } = context
  const { cluster, namespace, clock, holder } = session
  const since = () => readableDuration(clock.now() - began)
  const { plan, synth, services, source, part } = compiled
  const environment = plan.environment.name
  const subject = part ? `${part.named.join(', ')} of ${environment}` : environment
  const named = part && { named: part.named }
  const are = part && part.named.length > 1 ? 'are' : 'is'

  const { deployEnvironment } = await import('../environment/deploy.ts')
  const isWanted = ({ service }: { readonly service: string }) => !part || part.services.has(service)
  const outcome = new Outcome({ ...plan, workloads: plan.workloads.filter(isWanted) }, { waits: options.wait })
  const choices = choicesOf(options, compiled)
  if (plan.workloads.length === 0 && services)
    throw new UserError('the files have no services to deploy', {
      hint: 'are they all left out by profiles? `devctl destroy` takes an environment away',
    })
  let isChanged = false
  const onChange = () => {
    isChanged = true
  }
  const result = await deployEnvironment(
    {
      cluster,
      plan,
      synth,
      services,
      namespace,
      holder,
      wait: options.wait,
      source,
      choices,
      isHeld,
      secrets: io.secrets,
    },
    {
      clock,
      signal,
      events: { ...toProgress(progress, outcome, onChange, () => clock.now()), ...askAbout(io, options, progress) },
    },
  ).catch((error: unknown) => {
    progress.pause()
    if (isChanged || signal.aborted) io.stderr.write(stoppedText(environment, namespace, outcome, isChanged))
    throw error
  })
  progress.pause()
  if (result.failures.length > 0) {
    report(context, options.output, result.failures)
    if ('ended' in result) {
      io.stderr.write(stoppedText(environment, namespace, outcome, isChanged))
      throw result.ended
    }
    const services = outcome.services()
    const left = [...services.values()].some(state => state === 'not-made' || state === 'not-changed')
    const text = `${subject} ${are} partly deployed to ${namespace}: ${outcome.text()} (${since()}). Deploy again when it is fixed${left ? '; `devctl diff` shows what is left' : ''}`
    const endpoints = addressesInOrder(result.routes)
    if (options.output === 'json') tellResult(io, { environment, namespace, ...named, services, endpoints })
    else printAddresses(io, endpoints)
    io.stderr.write(`${text}\n`)
    return 1
  }
  const endpoints = addressesInOrder(result.routes)
  if (options.output === 'json') {
    const { isUpToDate, pruned } = result
    tellResult(io, { environment, namespace, ...named, isUpToDate, pruned, services: outcome.services(), endpoints })
    return 0
  }
  const counted = result.isUpToDate && !options.wait ? '' : `: ${outcome.text()}`
  const end = `${subject} ${are} ${result.isUpToDate ? 'up to date in' : 'deployed to'} ${namespace}${counted}`
  printSummary(`${end} (${since()})`, io, logLevel)
  printAddresses(io, endpoints)
  if (logLevel === 'error') return 0
  if (!options.wait && result.unready.length > 0) io.stderr.write(`  ${unreadyText(result.unready)}\n`)
  if (result.pruned.length > 0) io.stderr.write(`  pruned ${result.pruned.join(', ')}\n`)
  return 0
}

/** `not ready: web (its image cannot be pulled; it is tried again), db (StatefulSet 0/1 ready)`. */
const unreadyText = (unready: readonly Unready[]): string =>
  `not ready: ${unready.map(({ workload, why, isStuck }) => `${workload.service} (${why}${isStuck ? '; it is tried again' : ''})`).join(', ')}; \`--wait\` waits`

function printAddresses({ stdout }: Io, addresses: readonly Address[]): void {
  const width = Math.max(0, ...addresses.map(({ services }) => services.join(', ').length))
  for (const { url, services } of addresses) stdout.write(`  ${services.join(', ').padEnd(width)}  ${url}\n`)
}

/** The last line for programs: every service with what became of it, and the addresses that there are. */
function tellResult(
  { stdout }: Io,
  {
    services,
    endpoints,
    ...rest
  }: {
    readonly environment: string
    readonly namespace: string
    readonly named?: readonly string[]
    readonly isUpToDate?: boolean
    readonly pruned?: readonly string[]
    readonly services: ReadonlyMap<string, ServiceState>
    readonly endpoints: readonly Address[]
  },
): void {
  const failed = [...services].filter(([, state]) => state === 'not-ready').map(([name]) => name)
  stdout.write(
    `${jsonText({ type: 'result', ...rest, ...(failed.length > 0 && { failed }), services: Object.fromEntries(services), endpoints: endpoints.map(({ url }) => url) })}\n`,
  )
}

/** Tells who wants to know (`--loglevel info`) which cluster and namespace it is, and what decided. */
export function tellTarget({ logLevel }: Context, { namespace, target }: Session, progress: Progress): void {
  if (logLevel !== 'info' && logLevel !== 'debug') return
  const { context, from } = target
  progress.tell({
    type: 'note',
    text: `using ${namespace} @ ${context}, chosen by ${from.namespace} and ${from.context}`,
  })
}

/** At a terminal somebody is asked before what was changed by hand is overwritten. */
function askAbout(
  { choose, stderr }: Io,
  { drift: how }: DeployValues,
  progress: Progress,
): Pick<DeployEvents, 'mayOverwrite'> {
  if (!choose || how === 'overwrite') return {}
  return {
    async mayOverwrite(drift) {
      progress.pause()
      for (const { object, path, by } of drift) stderr.write(` ${object}  ${path}  set by ${by.manager}\n`)
      const answers = [{ value: 'overwrite', label: 'overwrite it with what the files say' }, { value: 'stop' }]
      return (await choose('This was changed by hand.', answers)) === 'overwrite'
    },
  }
}
