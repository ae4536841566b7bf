import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import { toDnsLabel } from '../../../compiler/plan/object-names.ts'
import type { Run } from '../../../platform/api/runs.ts'
import { hasEnded } from '../../../platform/rules/runs/run-states.ts'
import { repositoryOf } from '../../../project/names/environment-name.ts'
import type { Context } from '../../command.ts'
import type { PipelineDeployValues } from '../../commands/platform/pipeline.ts'
import { listText } from '../../terminal/print-list.ts'
import { printRun } from '../../terminal/print-run.ts'
import { startProgress } from '../../terminal/progress/progress.ts'
import { toTable } from '../../terminal/table.ts'
import { cloneLoginOf } from './clone-login.ts'
import { isEndOfRun } from './end-of-run.ts'
import { notFoundHint } from './not-found-hint.ts'
import {
  type NeedsPlatform,
  type OnPlatform,
  onPlatform,
  requirePlatform,
  sameTarget,
  whileItContinues,
} from './on-platform.ts'
import { nameIn, repositoryHere } from './repository-here.ts'

interface TargetValues {
  readonly namespace: string | undefined
  readonly context: string | undefined
}

interface WaitValues extends TargetValues {
  readonly name: string | undefined
  readonly timeout: number | undefined
}

/**
 * Deploys a repository from within the cluster. Returns the exit status, which with `--wait` is the status of the run.
 */
export async function deployPipeline(context: Context, values: PipelineDeployValues): Promise<number> {
  const { io } = context
  io.secrets?.add(Object.values(values.var ?? {}))
  await requirePlatform(io, needs('deploy', values))
  const repository = await repositoryHere(io, values.repository)
  const environment = nameOf(values, () => nameIn(repository))
  return withRuns(context, values, 'deploy', environment, async on => {
    const { platform, target, signal } = on
    const { namespace } = target
    if (values.skipIfExists) {
      const skipped = await skip(context, values, on, environment)
      if (skipped !== undefined) return skipped
    }
    const { branch, file } = values
    const body = {
      namespace,
      environment,
      action: 'deploy' as const,
      repository,
      ...(branch !== undefined && { branch }),
      ...(file !== undefined && { file }),
      ...(values.var && { variables: { ...values.var } }),
      ...cloneLoginOf(io.env),
    }
    return scheduled(context, values, on, await platform.call('POST /runs', { body }, signal))
  })
}

/** Destroys an environment from within the cluster. Throws a UserError if it does not exist. */
export async function destroyPipeline(
  context: Context,
  values: WaitValues & { readonly volumes: boolean; readonly wait: boolean; readonly ignoreNotFound: boolean },
): Promise<number> {
  const environment = nameOf(values, () => nameHere(context))
  return withRuns(context, values, 'destroy', environment, async on => {
    const { platform, target, signal } = on
    const { namespace } = target
    const missing = await missingEnvironment(context, values, on, environment)
    if (missing) {
      if (!values.ignoreNotFound) throw missing
      context.io.stderr.write(`${missing.message.replaceAll('`', '')}: nothing to destroy\n`)
      return 0
    }
    const body = { namespace, environment, action: 'destroy' as const, ...(values.volumes && { volumes: true }) }
    return scheduled(context, values, on, await platform.call('POST /runs', { body }, signal))
  })
}

/** Follows the last run of an environment. */
export async function showPipeline(context: Context, values: WaitValues): Promise<number> {
  const environment = nameOf(values, () => nameHere(context))
  return withRuns(context, values, 'logs', environment, async on => {
    const [last] = await runsOf(on, environment)
    if (last) return follow(context, on, last)
    throw new UserError(`there is no run of \`${environment}\` in \`${on.target.namespace}\``, {
      hint: `to see them, run \`devctl pipeline list${sameTarget(values)}\`; to choose one, add \`--name\``,
    })
  })
}

/** Prints the last run of each environment. */
export async function listPipelines(
  context: Context,
  values: TargetValues & { readonly output: 'text' | 'json' | 'yaml' | 'name' },
): Promise<number> {
  const { stdout } = context.io
  return withRuns(context, { ...values, timeout: undefined }, 'list', undefined, async on => {
    const last = new Map<string, Run>()
    for (const run of await runsOf(on)) if (!last.has(run.environment)) last.set(run.environment, run)
    const items = [...last.values()].sort((a, b) => (a.environment < b.environment ? -1 : 1))
    const rows = items.map(run => [run.environment, statusOf(run), run.repository ?? '-', run.branch ?? '-'])
    const text = () => toTable([['Name', 'Status', 'Repository', 'Branch'], ...rows])
    const names = items.map(({ environment }) => environment)
    stdout.write(await listText(values.output, { records: items, names, text }))
    return 0
  })
}

/** Returns the status of a run as text, such as `deployed`, `destroy failed` or `deploy queued`. */
function statusOf({ action, state }: Run): string {
  if (state === 'succeeded') return action === 'deploy' ? 'deployed' : 'destroyed'
  return `${action} ${state}`
}

const INSTEAD = {
  deploy: '`devctl deploy` deploys the application in this folder',
  destroy: '`devctl destroy` destroys the application in this folder',
  list: '`devctl ps` shows the services of the application in this folder',
  logs: '`devctl logs` shows the logs of the application in this folder',
}

const needs = (verb: keyof typeof INSTEAD, { namespace, context }: TargetValues): NeedsPlatform => ({
  command: `pipeline ${verb}`,
  options: { namespace, context },
  instead: () => INSTEAD[verb],
})

function withRuns(
  { io }: Context,
  values: TargetValues & { readonly timeout: number | undefined },
  verb: keyof typeof INSTEAD,
  environment: string | undefined,
  work: (on: OnPlatform) => Promise<number>,
): Promise<number> {
  const again = environment === undefined ? undefined : `\`${logsOf(environment, values)}\` shows it`
  return onPlatform(io, {
    ...needs(verb, values),
    timeout: values.timeout,
    ...whileItContinues(io, again),
    work,
  })
}

/** Returns the command that shows a run of an environment. */
const logsOf = (environment: string, values: TargetValues): string =>
  `devctl pipeline logs --name ${environment}${sameTarget(values)}`

async function runsOf({ platform, target, signal }: OnPlatform, environment?: string): Promise<readonly Run[]> {
  const query = { namespace: target.namespace, ...(environment !== undefined && { environment }) }
  return (await platform.call('GET /runs', { query }, signal)).items
}

/**
 * Returns the exit status if the environment exists or is being deployed; undefined if it has to be deployed. An
 * environment whose last deploy failed has to be deployed again, because a job that skipped it would never repair it.
 * An environment that is about to be destroyed also has to be deployed.
 */
async function skip(
  context: Context,
  { wait, context: named, namespace, timeout }: PipelineDeployValues,
  on: OnPlatform,
  environment: string,
): Promise<number | undefined> {
  const { io } = context
  const [last] = await runsOf(on, environment)
  if (last && last.action === 'deploy' && !hasEnded(last.state)) {
    if (wait) return follow(context, on, last)
    io.stderr.write(`${environment} is already being deployed to ${on.target.namespace}; skipped\n`)
    return 0
  }
  const { withCluster } = await import('../cluster-session.ts')
  const { readRecord } = await import('../../../environment/record/record.ts')
  let exists = false
  await withCluster(io, { context: named, namespace, timeout }, async ({ cluster, namespace, signal }) => {
    const record = await readRecord(cluster, environment, namespace, { signal })
    exists = record !== undefined && record.ending === undefined && record.deployed !== undefined
    return 0
  })
  if (!exists || (last && !hasEnded(last.state))) return undefined
  if (last?.action === 'deploy' && last.state !== 'succeeded') {
    io.stderr.write(`The last deploy of ${environment} in ${on.target.namespace} did not succeed; deploying it again\n`)
    return undefined
  }
  io.stderr.write(`${environment} exists in ${on.target.namespace}; skipped\n`)
  return 0
}

/**
 * Returns the error for an environment that does not exist, which means that it has neither runs nor objects. Returns
 * undefined if the environment exists, or if the user lacks the rights to find out.
 */
async function missingEnvironment(
  { io }: Context,
  { context, namespace: named, timeout, ignoreNotFound }: WaitValues & { readonly ignoreNotFound: boolean },
  on: OnPlatform,
  environment: string,
): Promise<UserError | undefined> {
  const { namespace } = on.target
  const { unlessNotThere } = await import('../../../platform/session/connect-platform.ts')
  const asked = runsOf(on, environment)
  const own = ignoreNotFound ? await unlessNotThere(asked) : await asked
  if (own === undefined)
    return new UserError(`namespace \`${namespace}\` does not exist, or you are not a member of it`)
  if (own.length > 0) return undefined
  const { withCluster } = await import('../cluster-session.ts')
  const { environmentsIn } = await import('../../../environment/status/known-environments.ts')
  let found: ReadonlySet<string> | undefined
  await withCluster(io, { context, namespace: named, timeout }, async ({ cluster, namespace, signal }) => {
    found = await environmentsIn(cluster, namespace, { signal })
    return 0
  })
  if (found === undefined || found.has(environment)) return undefined
  const names = new Set([...(await runsOf(on)).map(run => run.environment), ...found])
  return new UserError(`environment \`${environment}\` does not exist in \`${namespace}\``, {
    hint: notFoundHint(environment, names, 'environments'),
  })
}

function scheduled(
  context: Context,
  values: TargetValues & { readonly wait: boolean },
  on: OnPlatform,
  run: Run,
): Promise<number> | number {
  if (values.wait) return follow(context, on, run)
  context.io.stderr.write(
    `Scheduled the ${run.action} of ${run.environment} in ${run.namespace}; \`${logsOf(run.environment, values)}\` shows it\n`,
  )
  return 0
}

async function follow({ io, logLevel }: Context, { platform, signal }: OnPlatform, { id }: Run): Promise<number> {
  const progress = await startProgress(io, logLevel, 'text', Date.now)
  const events = platform.follow('GET /runs/:id/log', { params: { id } }, signal, isEndOfRun)
  return printRun({ io, logLevel }, progress, events).finally(() => progress.pause())
}

/**
 * Returns the name of an environment from `--name`, converted to a DNS label as in other commands. Without the option,
 * returns the result of `otherwise`.
 */
const nameOf = ({ name }: { readonly name: string | undefined }, otherwise: () => string): string =>
  name === undefined ? otherwise() : toDnsLabel(name)

function nameHere({ io }: Context): string {
  const found = repositoryOf(io.cwd)
  const name = found?.address?.split(/[/\\:]/).at(-1) || (found?.top ?? io.cwd).split(/[/\\]/).at(-1)
  return toDnsLabel(name ?? '')
}
