import { failureSummary } from '../../compiler/diagnostics/render/summary.ts'
import { readableDuration } from '../../compiler/values/numbers/readable-duration.ts'
import { jsonText } from '../../compiler/values/printable.ts'
import type { UnreadyWorkload } from '../../environment/apply/retry-stuck.ts'
import type { PublicAddress } from '../../environment/endpoints/routes.ts'
import type { DeployOutcome } from '../../operations/deploy/outcome.ts'
import type { Context } from '../command.ts'
import type { Io } from './io.ts'
import type { ProgressForm } from './progress/progress.ts'
import { printSummary } from './report.ts'
import { statesText } from './service-states-text.ts'

/** Prints the outcome of a deploy and returns the exit status. Throws the error that ended the deploy early. */
export function printOutcome({ io, logLevel }: Context, form: ProgressForm, outcome: DeployOutcome): number {
  switch (outcome.kind) {
    case 'refused':
      io.stderr.write(`${failureSummary(outcome.diagnostics, 'nothing was deployed')}\n`)
      return 1
    case 'dependency-failed':
      return 1
    case 'command-failed':
      io.stderr.write(`${outcome.environment} is not deployed to ${outcome.namespace}: a command failed\n`)
      return 1
    case 'failed': {
      if ('ended' in outcome) throw outcome.ended
      const { namespace, services, endpoints, waits, milliseconds } = outcome
      const left = [...services.values()].some(state => state === 'not-made' || state === 'not-changed')
      if (form === 'json') tellResult(io, outcome, {})
      else printAddresses(io, endpoints)
      const text = `${subjectOf(outcome)} partly deployed to ${namespace}: ${statesText(services, waits)} (${readableDuration(milliseconds)})`
      io.stderr.write(
        `${text}. Fix the errors and deploy again${left ? '; `devctl diff` shows the remaining changes' : ''}\n`,
      )
      return 1
    }
    case 'deployed': {
      const { namespace, isUpToDate, pruned, unready, services, endpoints, waits, milliseconds } = outcome
      if (form === 'json') {
        tellResult(io, outcome, { isUpToDate, pruned })
        return 0
      }
      const counted = isUpToDate && !waits ? '' : `: ${statesText(services, waits)}`
      const end = `${subjectOf(outcome)} ${isUpToDate ? 'up to date in' : 'deployed to'} ${namespace}${counted}`
      printSummary(`${end} (${readableDuration(milliseconds)})`, io, logLevel)
      printAddresses(io, endpoints)
      if (logLevel === 'error') return 0
      if (!waits && unready.length > 0) io.stderr.write(`  ${unreadyText(unready)}\n`)
      if (pruned.length > 0) io.stderr.write(`  pruned ${pruned.join(', ')}\n`)
      return 0
    }
  }
}

type WithServices = Extract<DeployOutcome, { readonly kind: 'deployed' | 'failed' }>

/** Returns the subject and verb of a sentence: `shop is` or `web, api of shop are`. */
const subjectOf = ({ environment, named }: WithServices): string =>
  named ? `${named.join(', ')} of ${environment} ${named.length > 1 ? 'are' : 'is'}` : `${environment} is`

/**
 * Describes workloads that are not ready: `not ready: web (its image cannot be pulled; retrying), db (StatefulSet 0/1
 * ready)`.
 */
const unreadyText = (unready: readonly UnreadyWorkload[]): string =>
  `not ready: ${unready.map(({ workload, why, isStuck }) => `${workload.service} (${why}${isStuck ? '; retrying' : ''})`).join(', ')}; use \`--wait\` to wait`

function printAddresses({ stdout }: Io, addresses: readonly PublicAddress[]): void {
  const width = Math.max(0, ...addresses.map(({ services }) => services.join(', ').length))
  for (const { url, services } of addresses) stdout.write(`  ${services.join(', ').padEnd(width)}  ${url}\n`)
}

/** Prints the final JSON object: the state of each service, and the public addresses. */
function tellResult(
  { stdout }: Io,
  { environment, namespace, named, services, endpoints }: WithServices,
  more: { readonly isUpToDate?: boolean; readonly pruned?: readonly string[] },
): void {
  const failed = [...services].filter(([, state]) => state === 'not-ready').map(([name]) => name)
  const line = {
    type: 'result',
    environment,
    namespace,
    ...(named && { named }),
    ...more,
    ...(failed.length > 0 && { failed }),
    services: Object.fromEntries(services),
    endpoints: endpoints.map(({ url }) => url),
  }
  stdout.write(`${jsonText(line)}\n`)
}
