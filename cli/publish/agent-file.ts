import { posix } from 'node:path'
import { failureSummary } from '../../compiler/diagnostics/render/summary.ts'
import { toDnsLabel } from '../../compiler/values/dns-name.ts'
import { agentName } from '../../gitops/agents.ts'
import { argocdApplicationSet } from '../../gitops/application-set.ts'
import type { ForgeKind } from '../../gitops/forge/forge.ts'
import { controllerAddress } from '../../gitops/repository-url.ts'
import type { Context } from '../command.ts'
import { compileFiles } from '../compile-files.ts'
import { UsageError } from '../errors.ts'
import { type OpenProject, openProject } from '../open-project.ts'
import type { Values } from '../options.ts'
import type { LoadingValues } from '../project-options.ts'
import { printDiagnostics } from '../report.ts'
import { type AgentSettings, agentSettings, type argocdOptions, type fluxOptions } from './agent-options.ts'
import { type Agent, ARGOCD, type BranchlessTarget, FLUX, messageOf, messageOfAll, toDo } from './agent-words.ts'
import { type Destination, destinationOf, sharedFolder } from './destination.ts'

type ControllerValues = Values<typeof argocdOptions> & Values<typeof fluxOptions>

export interface InitAgentValues extends LoadingValues, ControllerValues {
  readonly argocd: boolean
  readonly flux: boolean
  readonly all: boolean
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

/** One file for a controller. */
export interface AgentFile {
  readonly agent: Agent
  readonly project: OpenProject
  readonly address: Destination['target']['address']
  /** Absent: the repository's main branch. */
  readonly branch?: string
  /** Without `.yaml`. */
  readonly name: string
  readonly textFor: (branch: string) => string
  readonly message: string
  /** For a pull request. Not below that of `publish`: a branch is no folder of others. */
  readonly requestBranch: string
  /** What is left to do when the file is applied. */
  readonly toDo: readonly string[]
}

/** What is to be committed for a controller; undefined after errors, which are printed. Throws a UsageError for what nobody has said, and for options that do not go together. */
export async function agentFile(context: Context, options: InitAgentValues): Promise<AgentFile | undefined> {
  const settings = agentSettings(options, options.argocd)
  return options.all ? allObject(context, options, settings) : oneObject(context, options, settings)
}

/** The object for one environment of an application; undefined after errors, which are printed. */
async function oneObject(
  context: Context,
  options: InitAgentValues,
  settings: AgentSettings,
): Promise<AgentFile | undefined> {
  const agent = options.argocd ? ARGOCD : FLUX
  const found = await targetOf(context, options)
  if (!found) return undefined
  const { destination, project, target } = found
  const { application, environment } = target
  return {
    agent,
    project,
    ...destination.target,
    name: agentName(target),
    textFor: branch => agent.objects({ ...target, branch }, settings),
    message: messageOf(agent, target),
    requestBranch: [`devctl-${agent.folder}`, ...(environment === undefined ? [] : [environment]), application].join(
      '/',
    ),
    toDo: toDo(agent, target, settings),
  }
}

/** The object for every published folder of the repository; undefined after errors, which are printed. */
async function allObject(
  { io, logLevel }: Context,
  options: InitAgentValues,
  settings: AgentSettings,
): Promise<AgentFile | undefined> {
  if (!options.argocd) throw new UsageError('`--all` is for `--argocd`, whose ApplicationSet reads the lock files')
  if (options.namespace !== undefined)
    throw new UsageError('`--namespace` does not go with `--all`', { hint: 'each folder says its own' })
  const project = await openProject(io, options)
  if (project.diagnostics.some(({ severity }) => severity === 'error')) {
    printDiagnostics(project.diagnostics, io, logLevel)
    return undefined
  }
  const { name, path = '.', url, controllerNamespace } = options
  const { target } = destinationOf(
    io,
    { ...options, path, layout: undefined, pullRequest: false, verify: true },
    project,
    'all',
  )
  const repository = url ?? target.address.url
  const environment = project.environment?.key
  const all = {
    name: toDnsLabel(name ?? [repositoryName(repository), environment].filter(part => part !== undefined).join('-')),
    ...(environment !== undefined && { environment }),
    repository: controllerAddress(repository),
    path,
    ...(controllerNamespace !== undefined && { controllerNamespace }),
  }
  return {
    agent: ARGOCD,
    project,
    ...target,
    name: all.name,
    textFor: branch => argocdApplicationSet({ ...all, branch }, settings),
    message: messageOfAll(environment),
    requestBranch: `devctl-argocd-all/${all.name}`,
    toDo: [ARGOCD.access(all)],
  }
}

/** `deploy` of `ssh://git@host/team/deploy.git`. */
const repositoryName = (address: string) => posix.basename(address.replace(/\/+$/, ''), '.git')

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
