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
  explain: `Compose checks at \`start_interval\` until \`start_period\` is over or a check has passed. Without \`start_period\` there is no such time, and the checks run at \`interval\` from the beginning.

\`\`\`yaml
healthcheck:
  test: ["CMD", "pg_isready"]
  start_period: 60s
  start_interval: 2s    # a startup probe, every 2 seconds
\`\`\``,
  text: () => ({
    message: '`start_interval` has no effect without `start_period`',
    hint: 'add `start_period`, or shorten `interval`',
  }),
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

/** Default timeout of a check in Compose, in seconds; Kubernetes' own default is one second. */
const defaultTimeout = 30

/** Kubernetes' defaults, which apply to a healthcheck without these keys. */
const DEFAULTS = { periodSeconds: 10, failureThreshold: 3 }

/** The highest threshold. A startup probe with this threshold practically never stops its container. */
export const NEVER = 2 ** 31 - 1

type Probes = Pick<ContainerPlan, 'startupProbe' | 'readinessProbe' | 'livenessProbe'>

/** Plans the probes for a service's healthcheck. */
export function planProbes(context: PlanContext, service: Service): Probes {
  const healthcheck = healthcheckOf(context, service)
  const checks = healthcheck && planChecks(context, healthcheck)
  if (!healthcheck || !checks) return {}
  if (service.healthcheck?.startInterval && !healthcheck.startPeriod)
    context.reporter.report(startInterval, service.healthcheck.startInterval.span, undefined)
  const { readiness, liveness } = healthcheck
  if (!readiness.value && !liveness.value) {
    context.reporter.report(noProbe, readiness.span, undefined)
    return {}
  }
  const { probe, startup } = checks
  return {
    // Only a liveness probe may stop its container. As in Compose, a healthcheck without a liveness probe does not.
    ...(startup && { startupProbe: liveness.value ? startup : { ...startup, failureThreshold: NEVER } }),
    ...(readiness.value && { readinessProbe: probe }),
    ...(liveness.value && { livenessProbe: probe }),
  }
}

/** The probes of a healthcheck, with their timings. */
interface Checks {
  readonly probe: ProbePlan
  /** The probe until the first success. It uses `start_interval`, and replaces the initial delay of `probe`. */
  readonly startup?: ProbePlan
}

/** Plans the probes of a healthcheck; returns undefined if the healthcheck is turned off. */
export function planChecks(context: PlanContext, healthcheck: KnownHealthcheck): Checks | undefined {
  const { check, retries } = healthcheck
  if (check.kind === 'none') return undefined
  const startPeriod = timing(context, 'start_period', healthcheck.startPeriod)
  const startInterval = startPeriod && timing(context, 'start_interval', healthcheck.startInterval)
  const periodSeconds = timing(context, 'interval', healthcheck.interval)
  const probe: ProbePlan = {
    check: toCheck(check),
    ...(startPeriod !== undefined && startInterval === undefined && { initialDelaySeconds: startPeriod }),
    ...(periodSeconds !== undefined && { periodSeconds }),
    timeoutSeconds: timing(context, 'timeout', healthcheck.timeout) ?? defaultTimeout,
    // Zero means the default in Compose.
    ...(retries?.value && { failureThreshold: retries.value }),
  }
  if (startPeriod === undefined || startInterval === undefined) return { probe }
  const { periodSeconds: interval, failureThreshold } = { ...DEFAULTS, ...probe }
  const patience = startPeriod + failureThreshold * interval
  return {
    probe,
    startup: { ...probe, periodSeconds: startInterval, failureThreshold: Math.ceil(patience / startInterval) },
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

/** Converts a duration to whole seconds; returns undefined for zero, which means the default in Compose. */
function timing(context: PlanContext, key: string, found: At<Duration> | undefined): number | undefined {
  return found?.value.milliseconds ? wholeSeconds(context, key, found) : undefined
}

/** Converts a duration to whole seconds, rounded up. Reports a duration that is not a whole number of seconds. */
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
