import type { Diagnostic } from '../compiler/diagnostics/diagnostic.ts'
import { diagnosticsToJson } from '../compiler/diagnostics/render/json.ts'
import { count, failureSummary, plural } from '../compiler/diagnostics/render/summary.ts'
import { get } from '../compiler/syntax/tree.ts'
import type { Manifest } from '../constructs/manifest.ts'
import type { DeployEvents } from '../environment/deploy.ts'
import { type Session, withCluster } from './cluster-session.ts'
import type { Context } from './command.ts'
import { compileFiles } from './compile-files.ts'
import type { DeployingValues } from './deploy-options.ts'
import { deploySource } from './deploy-source.ts'
import { readableDuration } from './duration-option.ts'
import { type OpenProject, openProject, targetOf } from './open-project.ts'
import { type Progress, type ProgressForm, startProgress } from './progress/progress.ts'
import { printDiagnostics, printSummary } from './report.ts'

export interface DeployValues extends DeployingValues {
  readonly wait: boolean
  readonly output: ProgressForm
}

/** Compiles, then brings the environment in the cluster to what the files say. */
export async function deployApplication(context: Context, options: DeployValues): Promise<number> {
  const project = await openProject(context.io, options)
  const target = targetOf(project, options)
  return withCluster(context.io, { ...options, ...target, logLevel: context.logLevel }, session =>
    deploy(context, options, project, session),
  )
}

async function deploy(
  context: Context,
  options: DeployValues,
  project: OpenProject,
  session: Session,
): Promise<number> {
  const { io, logLevel } = context
  const { cluster, namespace, clock, signal, holder } = session
  const began = clock.now()
  const since = () => readableDuration(clock.now() - began)
  const progress = await startProgress(io, logLevel, options.output, () => clock.now())
  tellTarget(context, session, progress)
  const compiled = await compileForCluster(context, options, project, namespace, progress)
  if (!compiled) return 1
  const { plan, synth, services, source } = compiled
  const environment = plan.environment.name

  const { deployEnvironment } = await import('../environment/deploy.ts')
  const states = new Map<string, string>()
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
      choices: {
        adopt: options.adopt,
        forceConflicts: options.forceConflicts,
        takeOver: options.takeOver,
        rerun: new Set(options.rerun),
      },
    },
    { clock, signal, events: toProgress(progress, states) },
  ).catch((error: unknown) => {
    progress.pause()
    if (signal.aborted) io.stderr.write(stoppedText(environment, namespace, states))
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
  const urls = hostsOf(synth(plan)).map(host => `https://${host}`)
  if (options.output === 'json') {
    const { isUpToDate, pruned } = result
    io.stdout.write(
      `${JSON.stringify({ type: 'result', environment, namespace, isUpToDate, pruned, endpoints: urls })}\n`,
    )
    return 0
  }
  const end = result.isUpToDate
    ? `${environment} is up to date in ${namespace}`
    : `${environment} is deployed to ${namespace}`
  printSummary(`${end} (${since()})`, io, logLevel)
  for (const url of urls) io.stdout.write(`${url}\n`)
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

/** Compiles for the cluster: what `render` may leave open is an error here, and without a domain there are no routes. Undefined after errors, which are printed. */
export async function compileForCluster(
  context: Context,
  options: DeployingValues & { readonly output: ProgressForm },
  project: OpenProject,
  namespace: string,
  progress: Progress,
) {
  const { io } = context
  const planning = { ...options, namespace, startOrder: 'client', includeSecrets: true } as const
  const compilation = await compileFiles(io, [], options, planning, { project })
  const { plan, loaded } = compilation
  const manifest = project.namesCompose ? undefined : project.manifest
  const domain = options.domain ?? project.environment?.domain?.value
  const shown = compilation.diagnostics
    .filter(({ code }) => code !== 'routes/no-domain')
    .map(one => (one.code === 'image/no-registry' ? { ...one, severity: 'error' as const } : one))
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
  return { plan, synth, services: get(loaded?.tree, 'services'), source: deploySource(io, directory, files) }
}

function report({ io, logLevel }: Context, output: ProgressForm, diagnostics: readonly Diagnostic[]): void {
  if (output === 'text') printDiagnostics(diagnostics, io, logLevel)
  else
    for (const one of diagnosticsToJson(diagnostics))
      io.stdout.write(`${JSON.stringify({ type: 'diagnostic', ...one })}\n`)
}

/** Tells what happens, and keeps the state of each service. */
function toProgress(progress: Progress, states: Map<string, string>): DeployEvents {
  return {
    planned(changes) {
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
    done: (action, object) => progress.tell({ type: 'object', action, object }),
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

/** What state things are in when a deploy is stopped by its deadline or by Ctrl-C. */
function stoppedText(environment: string, namespace: string, states: ReadonlyMap<string, string>): string {
  const of = (isReady: boolean) =>
    [...states]
      .filter(([, state]) => (state === 'ready' || state === 'complete') === isReady)
      .map(([service]) => service)
  const [ready, waiting] = [of(true), of(false)]
  const parts = [
    ...(ready.length > 0 ? [`ready: ${ready.join(', ')}`] : []),
    ...(waiting.length > 0 ? [`not yet: ${waiting.join(', ')}`] : []),
  ]
  return `${environment} is partly deployed to ${namespace}${parts.length > 0 ? `: ${parts.join('; ')}` : ''}. Deploy again to go on\n`
}

/** The hosts of the routes, each once. */
function hostsOf(manifests: readonly Manifest[]): readonly string[] {
  const hosts = manifests.flatMap(({ object }) => {
    const spec = object['spec'] as
      | { readonly rules?: readonly { readonly host?: string }[]; readonly hostnames?: readonly string[] }
      | undefined // a route's spec
    if (object.kind === 'Ingress') return (spec?.rules ?? []).flatMap(({ host }) => host ?? [])
    return object.kind === 'HTTPRoute' ? (spec?.hostnames ?? []) : []
  })
  return [...new Set(hosts)]
}
