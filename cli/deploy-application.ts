import type { Diagnostic } from '../compiler/diagnostics/diagnostic.ts'
import { diagnosticsToJson } from '../compiler/diagnostics/render/json.ts'
import { count, failureSummary, plural } from '../compiler/diagnostics/render/summary.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import type { Plan } from '../compiler/plan/plan.ts'
import { get, type Tree } from '../compiler/syntax/tree.ts'
import type { Manifest } from '../constructs/manifest.ts'
import type { DeployEvents } from '../environment/deploy.ts'
import { type Address, addressesOf } from '../environment/endpoints/routes.ts'
import type { Source } from '../environment/record.ts'
import { buildRequests } from './built-images.ts'
import { type Session, withCluster } from './cluster-session.ts'
import type { Context } from './command.ts'
import { type CompiledProject, compileFiles } from './compile-files.ts'
import type { DeployingValues } from './deploy-options.ts'
import { deploySource } from './deploy-source.ts'
import { readableDuration } from './duration-option.ts'
import type { Io } from './io.ts'
import { type OpenProject, openProject, targetOf } from './open-project.ts'
import { type Progress, type ProgressForm, startProgress } from './progress/progress.ts'
import { printDiagnostics, printSummary } from './report.ts'

export interface DeployValues extends DeployingValues {
  readonly wait: boolean
  readonly dependencies: boolean
  readonly bash: boolean
  readonly build: boolean
  readonly output: ProgressForm
}

/** What a deploy is to others that depend on it. */
export interface Deployed {
  readonly status: number
  readonly environment?: string
  /** What its commands handed on. */
  readonly variables?: Readonly<Record<string, string>>
}

/** Deploys what a project depends on, runs its commands, then brings the environment in the cluster to what the files say. */
export async function deployApplication(context: Context, options: DeployValues): Promise<number> {
  const io = withVariables(context.io, options.var)
  const project = await openProject(io, options)
  const target = targetOf(project, options)
  return withCluster(io, { ...options, ...target, logLevel: context.logLevel }, async session => {
    const { deployProject } = await import('./deploy-project.ts')
    const { clock } = session
    const progress = await startProgress(io, context.logLevel, options.output, () => clock.now())
    tellTarget(context, session, progress)
    const { status } = await deployProject({ ...context, io }, options, project, session, progress, [])
    return status
  })
}

/** The variables of `--var` count like those of the shell. */
export function withVariables(io: Io, variables: Readonly<Record<string, string>> | undefined): Io {
  return variables ? { ...io, env: { ...io.env, ...variables } } : io
}

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
  const { plan, synth, services, source } = compiled
  const environment = plan.environment.name

  const { deployEnvironment } = await import('../environment/deploy.ts')
  const states = new Map<string, string>()
  const { adopt, forceConflicts, takeOver, pruneLimit, rerun } = options
  const choices = { adopt, forceConflicts, takeOver, pruneLimit, rerun: new Set(rerun) }
  if (plan.workloads.length === 0 && services)
    throw new UserError('the files have no services to deploy', {
      hint: 'are they all left out by profiles? `devctl destroy` takes an environment away',
    })
  let isChanged = false
  const onChange = () => {
    isChanged = true
  }
  const result = await deployEnvironment(
    { cluster, plan, synth, services, namespace, holder, wait: options.wait, source, choices, isHeld },
    { clock, signal, events: toProgress(progress, states, onChange) },
  ).catch((error: unknown) => {
    progress.pause()
    if (isChanged || signal.aborted) io.stderr.write(stoppedText(environment, namespace, states, isChanged))
    throw error
  })
  progress.pause()
  if (result.failures.length > 0) {
    report(context, options.output, result.failures)
    const failed = new Set(result.failedServices)
    const ready = [...states]
      .filter(([service, state]) => state !== 'waiting' && !failed.has(service))
      .map(([name]) => name)
    const text = `${environment} is partly deployed to ${namespace}: ${ready.length > 0 ? `${ready.join(', ')} ${ready.length === 1 ? 'is' : 'are'} ready; ` : ''}${[...failed].join(', ')} ${failed.size === 1 ? 'is' : 'are'} not (${since()}). Deploy again when it is fixed; \`devctl diff\` shows what is left`
    io.stderr.write(`${text}\n`)
    return 1
  }
  const endpoints = endpointsOf(synth(plan))
  if (options.output === 'json') {
    const { isUpToDate, pruned } = result
    io.stdout.write(
      `${JSON.stringify({ type: 'result', environment, namespace, isUpToDate, pruned, endpoints: endpoints.map(({ url }) => url) })}\n`,
    )
    return 0
  }
  const end = result.isUpToDate
    ? `${environment} is up to date in ${namespace}`
    : `${environment} is deployed to ${namespace}`
  printSummary(`${end} (${since()})`, io, logLevel)
  const width = Math.max(0, ...endpoints.map(({ services }) => services.join(', ').length))
  for (const { url, services } of endpoints) io.stdout.write(`  ${services.join(', ').padEnd(width)}  ${url}\n`)
  if (logLevel === 'error') return 0
  if (result.pruned.length > 0) io.stderr.write(`  pruned ${result.pruned.join(', ')}\n`)
  if (!options.wait && !result.isUpToDate) io.stderr.write('  not waited for what nothing depends on; `--wait` does\n')
  return 0
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

/** A project, compiled for the cluster. */
export interface CompiledForCluster {
  readonly plan: Plan
  readonly synth: (plan: Plan) => readonly Manifest[]
  /** The services of the Compose file. */
  readonly services: Tree | undefined
  readonly source: Source
}

/** What `deploy` and `diff` compile with. */
interface ForCluster extends DeployingValues {
  readonly output: ProgressForm
  readonly build?: boolean
}

/** Compiles for the cluster: what `render` may leave open is an error here, and without a domain there are no routes. Undefined after errors, which are printed. */
export async function compileForCluster(
  context: Context,
  options: ForCluster,
  project: OpenProject,
  { namespace, signal }: Pick<Session, 'namespace' | 'signal'>,
  progress: Progress,
): Promise<CompiledForCluster | undefined> {
  const { io } = context
  const planning = { ...options, namespace, startOrder: 'client', includeSecrets: true } as const
  let compilation = await compileFiles(io, [], options, planning, { project })
  let refused: readonly Diagnostic[] = []
  try {
    const built = await ensureImages(compilation, options, signal)
    // What was built goes by its digest.
    const image = new Map([...(options.image ?? []), ...built])
    if (built.size > 0) compilation = await compileFiles(io, [], options, { ...planning, image }, { project })
  } catch (error) {
    const { NotBuilt } = await import('../images/builder.ts')
    if (!(error instanceof NotBuilt)) throw error
    refused = error.diagnostics
  }
  const { plan, loaded } = compilation
  const manifest = project.namesCompose ? undefined : project.manifest
  const domain = options.domain ?? project.environment?.domain?.value
  // That no registry is given is what the builder is for.
  const found = compilation.diagnostics.filter(
    ({ code }) => code !== 'routes/no-domain' && code !== 'image/no-registry',
  )
  const shown = [...found, ...refused]
  progress.pause()
  report(context, options.output, shown)
  const directory = manifest?.folder ?? loaded?.directory
  if (!plan || directory === undefined || count(shown).error > 0) {
    io.stderr.write(`${failureSummary(shown, 'nothing was deployed')}\n`)
    return undefined
  }
  const { toManifests } = await import('../constructs/index.ts')
  const isRoute = ({ object }: Manifest) => object.kind === 'Ingress' || object.kind === 'HTTPRoute'
  const synth = (one: typeof plan): readonly Manifest[] =>
    toManifests(one).filter(manifest => domain !== undefined || !isRoute(manifest))
  const left = domain === undefined ? plan.routes.length : 0
  if (left > 0)
    progress.tell({ type: 'note', text: `${plural(left, 'route')} left out: no domain is given (\`--domain\`)` })
  const files = manifest ? [manifest.path] : options.file
  const common = { synth, services: get(loaded?.tree, 'services'), source: deploySource(io, directory, files) }
  if (!options.registryCredentials) return { plan, ...common }
  const { plan: pulling, notes } = await addRegistryCredentials(plan, synth, context, signal)
  for (const text of notes) progress.tell({ type: 'note', text })
  return { plan: pulling, ...common }
}

/** Has the images made that are in no registry. Throws `NotBuilt`. */
async function ensureImages(
  { project, plan, diagnostics, environment }: CompiledProject,
  { build = false, image }: ForCluster,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  // With errors nothing will be deployed; without a plan there is nothing to build for.
  if (!plan || !project) return new Map()
  const given = new Set([...(image?.keys() ?? []), ...(environment?.images.map(({ name }) => name) ?? [])])
  const requests = buildRequests(project, diagnostics, given, build)
  if (requests.length === 0) return new Map()
  const { noBuilder } = await import('../images/builder.ts')
  return noBuilder.ensure(requests, { force: build, signal })
}

async function addRegistryCredentials(
  plan: Plan,
  synth: (plan: Plan) => readonly Manifest[],
  { io }: Context,
  signal: AbortSignal,
) {
  const [{ addCredentials, registriesIn }, { readRegistryCredentials }] = await Promise.all([
    import('./registry-credentials.ts'),
    import('../images/docker-config.ts'),
  ])
  const registries = registriesIn(synth(plan))
  const hosts = new Set([...registries.values()].flatMap(one => [...one]))
  return addCredentials(plan, registries, await readRegistryCredentials([...hosts], { env: io.env, signal }))
}

/** Prints diagnostics in the form of the output. */
export function report({ io, logLevel }: Context, output: ProgressForm, diagnostics: readonly Diagnostic[]): void {
  if (output === 'text') printDiagnostics(diagnostics, io, logLevel)
  else
    for (const one of diagnosticsToJson(diagnostics))
      io.stdout.write(`${JSON.stringify({ type: 'diagnostic', ...one })}\n`)
}

/** Tells what happens, and keeps the state of each service; `onChange` is called when something was written. */
function toProgress(progress: Progress, states: Map<string, string>, onChange: () => void): DeployEvents {
  return {
    planned(changes) {
      const files = new Set([...changes.steps.keys()].map(({ source }) => source.split('#', 1)[0]!))
      const text = `${[...files].sort().join(', ')} → ${plural(changes.steps.size, 'object')}`
      if (files.size > 0) progress.tell({ type: 'step', step: 'Compiled', text })
      const actions = [...changes.steps.values()].map(({ action }) => action)
      const words = { create: 'to create', update: 'to change', replace: 'to replace', unchanged: 'unchanged' } as const
      const parts = (Object.keys(words) as (keyof typeof words)[]).flatMap(action => {
        const number = actions.filter(one => one === action).length
        return number > 0 ? [`${number} ${words[action]}`] : []
      })
      const gone = changes.prune.length + changes.pruneFirst.length
      progress.tell({
        type: 'step',
        step: 'Planned',
        text: [...parts, ...(gone > 0 ? [`${gone} to prune`] : [])].join(', '),
      })
    },
    locked: holder => progress.tell({ type: 'note', text: `waiting for ${holder}, who works on it or has died` }),
    done(action, object) {
      onChange()
      progress.tell({ type: 'object', action, object })
    },
    waiting(service, needs) {
      states.set(service, 'waiting')
      progress.tell({ type: 'waiting', service, for: needs })
    },
    status(service, { state, text }) {
      states.set(service, state)
      progress.tell({ type: 'status', service, state, text })
    },
  }
}

/** What state things are in when a deploy is stopped: by its deadline, by Ctrl-C, or because the cluster cannot be reached any more. */
function stoppedText(
  environment: string,
  namespace: string,
  states: ReadonlyMap<string, string>,
  isChanged: boolean,
): string {
  const of = (isReady: boolean) =>
    [...states]
      .filter(([, state]) => (state === 'ready' || state === 'complete') === isReady)
      .map(([service]) => service)
  const [ready, waiting] = [of(true), of(false)]
  const parts = [
    ...(ready.length > 0 ? [`ready: ${ready.join(', ')}`] : []),
    ...(waiting.length > 0 ? [`not yet: ${waiting.join(', ')}`] : []),
  ]
  if (!isChanged && parts.length === 0) return `nothing of ${environment} in ${namespace} was changed\n`
  return `${environment} is partly deployed to ${namespace}${parts.length > 0 ? `: ${parts.join('; ')}` : ''}. Deploy again to go on\n`
}

/** The addresses of the routes with the services that answer there, each once. */
function endpointsOf(manifests: readonly Manifest[]): readonly Address[] {
  const routes = manifests.filter(({ object }) => object.kind === 'Ingress' || object.kind === 'HTTPRoute')
  const byUrl = new Map(routes.flatMap(({ object }) => addressesOf(object, new Map())).map(one => [one.url, one]))
  return [...byUrl.values()].sort((a, b) => a.url.length - b.url.length || (a.url < b.url ? -1 : 1))
}
