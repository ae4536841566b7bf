import { failureSummary } from '../../compiler/diagnostics/render/summary.ts'
import { entry, type Tree } from '../../compiler/text/tree.ts'
import { jsonText } from '../../compiler/values/printable.ts'
import type { ObjectDiff } from '../../environment/plan/diff.ts'
import type { DiffOutcome } from '../../operations/diff/diff.ts'
import type { Context } from '../command.ts'
import type { DiffValues } from '../commands/diff.ts'
import { wantsColour } from '../terminal/io.ts'
import { toTerminal } from '../terminal/operation-events.ts'
import { NO_PROGRESS } from '../terminal/progress/events.ts'
import { startProgress } from '../terminal/progress/progress.ts'
import { printSummary } from '../terminal/report.ts'
import { tellTarget } from './deploy.ts'
import { withProject } from './project-session.ts'

/** Exit status with `--exit-code` if there are differences. */
const DIFFERENT = 3

/** Prints the changes that `deploy` would make, and changes nothing. */
export async function diffApplication(
  context: Context,
  services: readonly string[],
  options: DiffValues,
): Promise<number> {
  const input = { ...options, services }
  if (options.against !== undefined) {
    const { diffAgainst } = await import('../../operations/diff/against.ts')
    const world = { workspace: context.io, on: toTerminal(context, NO_PROGRESS, 'text') }
    return printOutcome(context, options, await diffAgainst(world, input, options.against))
  }
  return withProject(context, { ...options, usesPlatform: { form: 'text' } }, async (own, project, session) => {
    const { diff } = await import('../../operations/diff/diff.ts')
    const progress = await startProgress(own.io, own.logLevel, 'text', () => session.clock.now())
    const on = toTerminal(own, progress, 'text')
    tellTarget(own, session, on)
    const outcome = await diff({ workspace: own.io, session, on }, input, project).finally(() => progress.pause())
    return printOutcome(own, options, outcome)
  })
}

/** Prints the differences and returns the exit status. */
async function printOutcome(
  { io, logLevel }: Context,
  { output, exitCode }: DiffValues,
  outcome: DiffOutcome,
): Promise<number> {
  if (outcome.kind === 'refused') {
    io.stderr.write(`${failureSummary(outcome.diagnostics, 'nothing was compared')}\n`)
    return 1
  }
  const { diffs, unchanged, services } = outcome
  const differing = diffs.filter(({ action }) => action !== 'keep')
  if (output === 'json') {
    const objects = diffs.map(({ values, ...diff }) => ({
      ...diff,
      values: values.map(({ keys: _, ...value }) => value),
    }))
    io.stdout.write(`${jsonText({ objects, unchanged }, 2)}\n`)
  } else {
    const { differingText, diffText } = await import('../terminal/print-diff.ts')
    const colour = wantsColour(io.stdout, io.env)
    io.stdout.write(await diffText(diffs, { colour, now: Date.now(), placeOf: diff => placeOf(diff, services) }))
    printSummary(differingText(differing.length, unchanged), io, logLevel)
  }
  return exitCode && differing.length > 0 ? DIFFERENT : 0
}

/**
 * Compose service key for each workload field that is generated from it. In a path of fields, the innermost field with
 * an entry here decides.
 */
const FIELDS: Readonly<Record<string, string>> = {
  env: 'environment',
  image: 'image',
  command: 'entrypoint',
  args: 'command',
  ports: 'ports',
  resources: 'deploy',
  readinessProbe: 'healthcheck',
  livenessProbe: 'healthcheck',
  startupProbe: 'healthcheck',
  volumeMounts: 'volumes',
  volumes: 'volumes',
  replicas: 'deploy',
  imagePullPolicy: 'pull_policy',
  workingDir: 'working_dir',
}

/**
 * Returns the position of the changed key, such as `compose.yaml:24 services.api.environment`, or of the service if no
 * single key is responsible. If `services` lacks the service, returns the file and the path without a line. Undefined
 * if the object has no source.
 */
function placeOf({ source, values }: ObjectDiff, services: Tree | undefined): string | undefined {
  if (source === undefined) return undefined
  const [file, path = ''] = source.split('#')
  const service = path.startsWith('services.') ? entry(services, path.slice('services.'.length)) : undefined
  if (!service) return `${file} ${path}`.trim()
  const fields = new Set(
    values.map(({ keys }) => FIELDS[keys.findLast(key => typeof key === 'string' && FIELDS[key]) as string]),
  )
  const [field] = fields.size === 1 ? fields : []
  const part = field === undefined ? undefined : entry(service.value, field)
  const span = (part ?? service).key
  return `${span.file.path}:${span.file.position(span.start).line} ${path}${part ? `.${field}` : ''}`
}
