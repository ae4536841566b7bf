import type { Duration, Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { At } from '../../text/source.ts'
import { type PlanContext, seconds } from '../context.ts'
import type { ContainerPlan, ProbePlan } from '../plan.ts'
import { healthcheckOf, type KnownHealthcheck } from './healthcheck.ts'

const noProbe = diagnostic({
  code: 'healthcheck/no-probe',
  severity: 'warning',
  loss: true,
  explain: `A healthcheck becomes a readiness probe (\`x-platform-readiness\`, default on), a liveness probe (\`x-platform-liveness\`, default off), or both. Here both are off, so the healthcheck has no effect.`,
  text: () => ({
    message: 'both `x-platform-readiness` and `x-platform-liveness` are off, so the healthcheck has no effect',
    hint: 'turn one on, or write `disable: true`',
  }),
})

const startInterval = diagnostic({
  code: 'healthcheck/start-interval',
  severity: 'warning',
  loss: true,
  explain:
    'A Kubernetes probe has one interval. `start_interval`, which Compose uses while the container starts, is left out; `start_period` becomes the delay before the first check.',
  text: () => ({ message: '`start_interval` has no equivalent and is left out', hint: 'shorten `interval`' }),
})

const rounded = diagnostic({
  code: 'duration/rounded',
  severity: 'warning',
  loss: true,
  explain: 'Kubernetes supports only whole seconds here. The duration is rounded up.',
  text: (p: { key: string; written: string; seconds: number }) => ({
    message: `\`${p.key}: ${p.written}\` becomes ${p.seconds}s: Kubernetes supports only whole seconds`,
    hint: `write \`${p.seconds}s\``,
  }),
})

/** Without a timeout Kubernetes would give a check one second; Compose gives it 30. */
const defaultTimeout = 30

/** The probes that a healthcheck becomes. */
export function planProbes(
  context: PlanContext,
  service: Service,
): Pick<ContainerPlan, 'readinessProbe' | 'livenessProbe'> {
  const healthcheck = healthcheckOf(context, service)
  const probe = healthcheck && toProbe(context, healthcheck)
  if (!healthcheck || !probe) return {}
  const { readiness, liveness } = healthcheck
  if (!readiness.value && !liveness.value) context.reporter.report(noProbe, readiness.span, undefined)
  return { ...(readiness.value && { readinessProbe: probe }), ...(liveness.value && { livenessProbe: probe }) }
}

/** The check of a healthcheck with its timings; undefined when there is none. */
export function toProbe(context: PlanContext, healthcheck: KnownHealthcheck): ProbePlan | undefined {
  const { check, retries } = healthcheck
  if (check.kind === 'none') return undefined
  if (healthcheck.startInterval?.value.milliseconds)
    context.reporter.report(startInterval, healthcheck.startInterval.span, undefined)
  const initialDelaySeconds = timing(context, 'start_period', healthcheck.startPeriod)
  const periodSeconds = timing(context, 'interval', healthcheck.interval)
  return {
    check: toCheck(check),
    ...(initialDelaySeconds !== undefined && { initialDelaySeconds }),
    ...(periodSeconds !== undefined && { periodSeconds }),
    timeoutSeconds: timing(context, 'timeout', healthcheck.timeout) ?? defaultTimeout,
    // Zero is Compose's word for its default.
    ...(retries?.value && { failureThreshold: retries.value }),
  }
}

function toCheck(check: Exclude<KnownHealthcheck['check'], { kind: 'none' }>): ProbePlan['check'] {
  switch (check.kind) {
    case 'exec':
      return { kind: 'exec', command: check.command }
    case 'shell':
      return { kind: 'exec', command: ['/bin/sh', '-c', check.script] }
    case 'http':
      return { kind: 'http', path: check.path, port: check.port }
  }
}

/** Zero is Compose's word for its default. */
function timing(context: PlanContext, key: string, found: At<Duration> | undefined): number | undefined {
  return found?.value.milliseconds ? wholeSeconds(context, key, found) : undefined
}

/** A duration in whole seconds, rounded up. Reports when that changes it. */
export function wholeSeconds(
  { reporter }: Pick<PlanContext, 'reporter'>,
  key: string,
  { value, span }: At<Duration>,
): number {
  const count = seconds(value)
  if (value.milliseconds % 1000 !== 0) {
    const written = value.milliseconds < 1000 ? `${value.milliseconds}ms` : `${value.milliseconds / 1000}s`
    reporter.report(rounded, span, { key, written, seconds: count })
  }
  return count
}
