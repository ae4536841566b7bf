import { posix } from 'node:path'
import { failureSummary } from '../../compiler/diagnostics/render/summary.ts'
import { addOnce } from '../../gitops/add-once.ts'
import { agentName } from '../../gitops/agents.ts'
import type { ForgeKind } from '../../gitops/forge/forge.ts'
import { forgeOf } from '../../gitops/forge/forge-of.ts'
import { controllerAddress } from '../../gitops/repository-url.ts'
import type { Context } from '../command.ts'
import { compileFiles } from '../compile-files.ts'
import { withDeadline } from '../deadline.ts'
import { UsageError } from '../errors.ts'
import { type OpenProject, openProject } from '../open-project.ts'
import type { Values } from '../options.ts'
import { type Progress, startProgress } from '../progress/progress.ts'
import type { LoadingValues } from '../project-options.ts'
import { printDiagnostics } from '../report.ts'
import { agentSettings, type argocdOptions, type fluxOptions } from './agent-options.ts'
import { type Agent, ARGOCD, type BranchlessTarget, FLUX, messageOf, next, told } from './agent-words.ts'
import { type Destination, destinationOf, sharedFolder } from './destination.ts'
import { requestWith } from './pull-request.ts'
import { tellFetched } from './tell-fetched.ts'

type ControllerValues = Values<typeof argocdOptions> & Values<typeof fluxOptions>

export interface InitAgentValues extends LoadingValues, ControllerValues {
  readonly argocd: boolean
  readonly flux: boolean
  readonly name: string | undefined
  readonly namespace: string | undefined
  readonly repository: string | undefined
  readonly branch: string | undefined
  readonly path: string | undefined
  readonly into: string | undefined
  readonly url: string | undefined
  readonly controllerNamespace: string | undefined
  readonly pullRequest: boolean
  readonly forge: ForgeKind | undefined
  readonly print: boolean
  readonly dryRun: boolean
  readonly timeout: number | undefined
}

/** Commits the object by which a controller syncs an environment, or prints it. Gives the exit status. */
export async function initAgent(context: Context, options: InitAgentValues): Promise<number> {
  const { io, logLevel } = context
  if (options.argocd === options.flux)
    throw new UsageError('which controller?', { hint: 'add one of `--argocd` and `--flux`' })
  const hint = 'give it longer with `--timeout`; nothing is half done'
  return withDeadline(io, { timeout: options.timeout, hint }, async signal => {
    const progress = await startProgress(io, logLevel, 'text', () => Date.now())
    return addAgent(context, options, progress, signal)
  })
}

async function addAgent(
  context: Context,
  options: InitAgentValues,
  progress: Progress,
  signal: AbortSignal,
): Promise<number> {
  const { io } = context
  const agent = options.argocd ? ARGOCD : FLUX
  const settings = agentSettings(options, options.argocd)
  const found = await targetOf(context, options)
  if (!found) return 1
  const { destination, project, target } = found
  const { address, branch } = destination.target
  const textFor = (branch: string) => agent.objects({ ...target, branch }, settings)
  if (options.print && branch !== undefined) {
    io.stdout.write(textFor(branch))
    return 0
  }
  const path = posix.join(options.into ?? agent.folder, `${agentName(target)}.yaml`)
  const message = messageOf(agent, target)
  const rules = project.environment?.publish.pullRequest
  const request = options.pullRequest || rules ? requestBranch(agent, target) : undefined
  let text = ''
  const added = await addOnce(
    { address, ...(branch !== undefined && { branch }), ...(request !== undefined && { request }) },
    { path, text: branch => (text = textFor(branch)), message, option: '--into' },
    {
      env: io.env,
      signal,
      dryRun: options.dryRun || options.print,
      tell: tellFetched(progress, address),
    },
  )
  if (added.kind === 'pushed') {
    const { branch, commit } = added.pushed
    progress.tell({ type: 'step', step: 'Pushed', text: `${request ?? branch} ${commit.slice(0, 7)}` })
  }
  progress.pause()
  if (options.print) {
    io.stdout.write(text)
    return 0
  }
  const lines = [...told(added, path, request)]
  if (request !== undefined && (added.kind === 'pushed' || added.kind === 'requested')) {
    const base = added.kind === 'pushed' ? added.pushed.branch : added.branch
    const kind = options.forge ?? rules?.forge
    const forge = forgeOf(address.url, io.env, {
      isNamedByUser: address.isNamedByUser,
      ...(kind !== undefined && { forge: kind }),
    })
    const [title, ...paragraphs] = message.trimEnd().split('\n\n') as [string, ...string[]] // a text has a first line
    const opened = { head: request, base, title, body: `${paragraphs[0]}\n` }
    lines.push(...(await requestWith(io, forge, opened, project.environment, signal)).lines, '')
  }
  io.stdout.write(`${[...lines, ...next(added, agent, target, path, settings)].join('\n')}\n`)
  return 0
}

/** What the controller is told; undefined after errors, which are printed. Throws a UsageError for what nobody has said. */
async function targetOf(
  { io, logLevel }: Context,
  options: InitAgentValues,
): Promise<
  { readonly destination: Destination; readonly project: OpenProject; readonly target: BranchlessTarget } | undefined
> {
  const project = await openProject(io, options)
  const { name, namespace } = options
  const { plan, diagnostics } = await compileFiles(io, [], options, { name, namespace }, { project })
  if (!plan) {
    printDiagnostics(diagnostics, io, logLevel)
    io.stderr.write(`${failureSummary(diagnostics, 'nothing was committed')}\n`)
    return undefined
  }
  const { environment } = project
  const application = plan.environment.name
  const destination = destinationOf(
    io,
    { ...options, layout: undefined, pullRequest: false, verify: true },
    project,
    application,
  )
  if (plan.environment.namespace === undefined)
    throw new UsageError('the namespace of the environment is not known', { hint: 'add `--namespace NAMESPACE`' })
  const repository = options.url ?? destination.target.address.url
  // Before anything is fetched.
  controllerAddress(repository)
  const target = {
    application,
    ...(environment && { environment: environment.key }),
    namespace: plan.environment.namespace,
    repository,
    path: destination.path,
    shared: sharedFolder(application),
    createNamespace: environment?.publish.createNamespace ?? false,
    ...(options.controllerNamespace !== undefined && { controllerNamespace: options.controllerNamespace }),
  }
  return { destination, project, target }
}

/** Not below that of `publish`: a branch is no folder of others. */
const requestBranch = ({ folder }: Agent, { application, environment }: BranchlessTarget): string =>
  [`devctl-${folder}`, ...(environment === undefined ? [] : [environment]), application].join('/')
