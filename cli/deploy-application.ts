import { count, failureSummary, plural } from '../compiler/diagnostics/render/summary.ts'
import { get } from '../compiler/syntax/tree.ts'
import type { Changes } from '../environment/changes.ts'
import { type Session, type SessionOptions, withCluster } from './cluster-session.ts'
import type { Context } from './command.ts'
import { compileFiles } from './compile-files.ts'
import { readableDuration } from './duration-option.ts'
import type { Io } from './io.ts'
import type { LoadingValues, PlanningValues } from './project-options.ts'
import { printDiagnostics, printSummary } from './report.ts'

export interface DeployValues
  extends LoadingValues,
    Omit<PlanningValues, 'startOrder' | 'includeSecrets'>,
    SessionOptions {
  readonly wait: boolean
}

/** Compiles, then brings the environment in the cluster to what the files say. */
export async function deployApplication(context: Context, options: DeployValues): Promise<number> {
  return withCluster(context.io, options, session => deploy(context, options, session))
}

async function deploy({ io, logLevel }: Context, options: DeployValues, session: Session): Promise<number> {
  const { cluster, namespace, target, clock, signal, holder } = session
  const began = clock.now()
  const since = () => readableDuration(clock.now() - began)
  const tell = (text: string) => {
    if (logLevel !== 'error') io.stderr.write(`${since().padStart(8)}  ${text}\n`)
  }
  if (logLevel === 'info' || logLevel === 'debug')
    tell(`using ${namespace} @ ${target.context}, chosen by ${target.from.namespace} and ${target.from.context}`)
  const { plan, diagnostics, loaded } = await compileFiles(io, [], options, {
    ...options,
    namespace,
    startOrder: 'client',
    includeSecrets: true,
  })
  const blocking = diagnostics.map(one =>
    // What render may leave open, a cluster needs.
    one.code === 'image/no-registry' ? { ...one, severity: 'error' as const } : one,
  )
  const shown = blocking.filter(({ code }) => code !== 'routes/no-domain')
  printDiagnostics(shown, io, logLevel)
  if (!plan || count(shown).error > 0) {
    io.stderr.write(`${failureSummary(shown, 'nothing was deployed')}\n`)
    return 1
  }
  const { toManifests } = await import('../constructs/index.ts')
  const all = toManifests(plan)
  const isRoute = (kind: string) => kind === 'Ingress' || kind === 'HTTPRoute'
  const manifests = options.domain === undefined ? all.filter(({ object }) => !isRoute(object.kind)) : all
  if (manifests.length < all.length)
    tell(`${plural(all.length - manifests.length, 'route')} left out: no domain is given (\`--domain\`)`)
  const environment = plan.environment.name

  const { deployEnvironment } = await import('../environment/deploy.ts')
  const result = await deployEnvironment(
    { cluster, plan, manifests, services: get(loaded?.tree, 'services'), namespace, holder, wait: options.wait },
    {
      clock,
      signal,
      events: { planned: changes => tell(planText(changes)), status: (service, text) => tell(`${service}: ${text}`) },
    },
  )
  if (result.failures.length > 0) {
    printDiagnostics(result.failures, io, logLevel)
    const names = result.failedServices.map(name => `\`${name}\``).join(', ')
    io.stderr.write(
      `${environment} is partly deployed to ${namespace}: ${names} ${result.failedServices.length === 1 ? 'does' : 'do'} not start (${since()}). Deploy again when it is mended\n`,
    )
    return 1
  }
  const end = result.isUpToDate
    ? `${environment} is up to date in ${namespace}`
    : `${environment} is deployed to ${namespace}`
  printSummary(`${end} (${since()})`, io, logLevel)
  printEnd(io, manifestHosts(manifests), result.pruned, options.wait || result.isUpToDate)
  return 0
}

function planText({ steps, prune, pruneFirst }: Changes): string {
  const actions = [...steps.values()].map(({ action }) => action)
  const counted = (['create', 'update', 'replace', 'unchanged'] as const).map(
    action => [action, actions.filter(one => one === action).length] as const,
  )
  const words = { create: 'to create', update: 'to change', replace: 'to replace', unchanged: 'unchanged' }
  const parts = counted.flatMap(([action, number]) => (number > 0 ? [`${number} ${words[action]}`] : []))
  const gone = prune.length + pruneFirst.length
  return `planned: ${[...parts, ...(gone > 0 ? [`${gone} to delete`] : [])].join(', ')}`
}

function printEnd(io: Io, hosts: readonly string[], pruned: readonly string[], isWaited: boolean): void {
  for (const host of hosts) io.stdout.write(`https://${host}\n`)
  if (pruned.length > 0) io.stderr.write(`  deleted ${pruned.join(', ')}\n`)
  if (!isWaited) io.stderr.write('  not waited for what nothing depends on; `--wait` does\n')
}

/** The hosts of the routes, each once. */
function manifestHosts(
  manifests: readonly { readonly object: { readonly kind: string; readonly [key: string]: unknown } }[],
): readonly string[] {
  const hosts = manifests.flatMap(({ object }) => {
    const spec = object['spec'] as
      | { readonly rules?: readonly { readonly host?: string }[]; readonly hostnames?: readonly string[] }
      | undefined // a route's spec
    if (object.kind === 'Ingress') return (spec?.rules ?? []).flatMap(({ host }) => host ?? [])
    return object.kind === 'HTTPRoute' ? (spec?.hostnames ?? []) : []
  })
  return [...new Set(hosts)]
}
