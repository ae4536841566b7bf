import { posix } from 'node:path'
import { controllerAddress } from '../../adapters/git/repository-url.ts'
import { failureSummary } from '../../compiler/diagnostics/render/summary.ts'
import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import type { Plan } from '../../compiler/plan/plan.ts'
import { toDnsLabel } from '../../compiler/values/dns-name.ts'
import type { ForgeKind } from '../../compiler/values/repository-names.ts'
import { type ArtifactTarget, agentName } from '../../operations/gitops/agents.ts'
import { argocdApplicationSet } from '../../operations/gitops/application-set.ts'
import { compileWithoutValues } from '../../operations/project/compile-without-values.ts'
import { openProject } from '../../operations/project/open-project.ts'
import type { OpenProject } from '../../operations/project/opened-project.ts'
import { atPlace, type Destination, destinationOf, sharedFolder } from '../../operations/publish/destination.ts'
import { refuseSecretsIn } from '../../operations/publish/last-look.ts'
import { ociReference, parseReference, repositoryIn } from '../../operations/publish/oci-reference.ts'
import type { Context } from '../command.ts'
import type { Values } from '../options.ts'
import type { LoadingValues } from '../project-options.ts'
import { printDiagnostics } from '../report.ts'
import { type AgentSettings, agentSettings, type argocdOptions, type fluxOptions } from './agent-options.ts'
import { type Agent, ARGOCD, FLUX, messageOf, messageOfAll, NOT_DECRYPTED, SOPS_KEYS, toDo } from './agent-words.ts'

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
  readonly oci: string | undefined
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
  /** Where it is committed to. */
  readonly address: Destination['target']['address']
  /** Absent: the repository's main branch. */
  readonly branch?: string
  /** From the root of the repository, with `/`. */
  readonly path: string
  readonly textFor: (branch: string) => string
  readonly message: string
  /** For a pull request. Not below that of `publish`: a branch is no folder of others. */
  readonly requestBranch: string
  /** What is left to do when the file is applied. */
  readonly toDo: readonly string[]
}

/** What is to be committed for a controller, or only to be printed; undefined after errors, which are printed. Throws a UsageError for what nobody has said, and for options that do not go together. */
export async function agentFile(
  context: Context,
  options: InitAgentValues,
): Promise<AgentFile | { readonly printed: string } | undefined> {
  const settings = agentSettings(options, options.argocd)
  const { secrets } = context.io
  const file = options.all ? await allObject(context, options, settings) : await oneObject(context, options, settings)
  if (!file) return undefined
  if ('printed' in file) {
    refuseSecretsIn(new Map([['the file', file.printed]]), secrets)
    return file
  }
  const { path, message } = file
  const textFor = (branch: string) => {
    const text = file.textFor(branch)
    const texts = [
      [path, text],
      ['the name of the file', path],
      ['the message of the commit', message],
    ] as const
    refuseSecretsIn(new Map(texts), secrets)
    return text
  }
  return { ...file, textFor }
}

/** The object for one environment of an application; undefined after errors, which are printed. */
async function oneObject(
  context: Context,
  options: InitAgentValues,
  said: AgentSettings,
): Promise<AgentFile | { readonly printed: string } | undefined> {
  const agent = options.argocd ? ARGOCD : FLUX
  const compiled = await compile(context, options)
  if (!compiled) return undefined
  const { project, plan } = compiled
  const settings = withDecryption(context.io, agent, project, said)
  const artifact = artifactToRead(options, project)
  if (artifact && options.print)
    return { printed: agent.artifactObjects({ ...followedBy(compiled, options), ...artifact }, settings) }
  const { name } = plan.environment
  const { target: to, path } = fileDestination(context.io, options, project, name, artifact !== undefined)
  const followed = followedBy(compiled, options)
  const { application, environment } = followed
  const parts = [`devctl-${agent.folder}`, ...(environment === undefined ? [] : [environment]), application]
  const file = {
    agent,
    project,
    ...to,
    path: pathOf(agent, agentName(followed), options),
    requestBranch: parts.join('/'),
  }
  if (artifact) {
    const target = { ...followed, ...artifact }
    const text = agent.artifactObjects(target, settings)
    const where = `${artifact.artifact}:${artifact.tag}`
    return {
      ...file,
      textFor: () => text,
      message: messageOf(agent, followed, where),
      toDo: toDo(agent, target, settings),
    }
  }
  const repository = options.url ?? to.address.url
  // Before anything is fetched.
  readByController(repository, options, project)
  const target = { ...followed, repository, path, shared: sharedFolder(application) }
  return {
    ...file,
    textFor: branch => agent.objects({ ...target, branch }, settings),
    message: messageOf(agent, followed, path === '.' ? 'this repository' : path),
    toDo: toDo(agent, target, settings),
  }
}

/** The settings with the keys for what SOPS has encrypted; Argo CD takes none, which is reported. */
function withDecryption(io: Context['io'], agent: Agent, { environment }: OpenProject, said: AgentSettings) {
  if (environment?.secrets.backend !== 'sops') return said
  if (agent === FLUX) return { decryptionSecret: SOPS_KEYS, ...said }
  io.stderr.write(NOT_DECRYPTED)
  return said
}

/** The artifact that is followed; undefined where that is a folder of a repository. Throws a UsageError for options that do not go together. */
function artifactToRead(
  { oci: option, url, path }: InitAgentValues,
  { environment }: OpenProject,
): Pick<ArtifactTarget, 'artifact' | 'tag'> | undefined {
  const oci = option ?? environment?.publish.oci?.value
  if (oci === undefined) return undefined
  if (path !== undefined)
    throw new UsageError('`--path` does not go with `--oci`', { hint: 'the folder of the file is `--into`' })
  if (url !== undefined) ociReference(url, '--url')
  const { name, tag } = parseReference(oci, environment?.key)
  return { artifact: url === undefined ? name : repositoryIn(url), tag }
}

/** Where the file is committed to. Throws a UsageError where nobody has said that. */
function fileDestination(
  io: Context['io'],
  options: InitAgentValues,
  project: OpenProject,
  application: string,
  isForArtifact: boolean,
): Destination {
  const { repository } = options
  if (isForArtifact && repository === undefined && !project.environment?.publish.repository)
    throw new UsageError('the repository for the file is not known', {
      hint: 'add `--repository ADDRESS`, or `--print` and give it to `kubectl apply -f -`',
    })
  const path = isForArtifact ? '.' : options.path
  const values = { ...options, path, layout: undefined, pullRequest: false, verify: true }
  return destinationOf(io, values, project, application)
}

/** The object for every published folder of the repository; undefined after errors, which are printed. */
async function allObject(
  { io, logLevel }: Context,
  options: InitAgentValues,
  settings: AgentSettings,
): Promise<AgentFile | undefined> {
  if (!options.argocd) throw new UsageError('`--all` is for `--argocd`, whose ApplicationSet reads the lock files')
  if (options.oci !== undefined)
    throw new UsageError('`--oci` does not go with `--all`', { hint: 'an artifact is one application' })
  if (options.namespace !== undefined)
    throw new UsageError('`--namespace` does not go with `--all`', { hint: 'each folder says its own' })
  const project = await openProject(io, options)
  if (project.diagnostics.some(({ severity }) => severity === 'error')) {
    printDiagnostics(project.diagnostics, io, logLevel)
    return undefined
  }
  withDecryption(io, ARGOCD, project, settings)
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
    repository: readByController(repository, options, project),
    path,
    ...(controllerNamespace !== undefined && { controllerNamespace }),
  }
  return {
    agent: ARGOCD,
    project,
    ...target,
    path: pathOf(ARGOCD, all.name, options),
    textFor: branch => argocdApplicationSet({ ...all, branch }, settings),
    message: messageOfAll(environment),
    requestBranch: `devctl-argocd-all/${all.name}`,
    toDo: [ARGOCD.access(all)],
  }
}

/** The address as controllers take it. Throws a UserError, with the place of an address of the manifest. */
function readByController(address: string, { url, repository }: InitAgentValues, { environment }: OpenProject): string {
  const place = (url ?? repository) === undefined ? environment?.publish.repository?.span : undefined
  return atPlace(place, () => controllerAddress(address))
}

const pathOf = ({ folder }: Agent, name: string, { into = folder }: InitAgentValues) => posix.join(into, `${name}.yaml`)

/** `deploy` of `ssh://git@host/team/deploy.git`. */
const repositoryName = (address: string) => posix.basename(address.replace(/\/+$/, ''), '.git')

interface Compiled {
  readonly project: OpenProject
  readonly plan: Plan
}

/** The project and its plan; undefined after errors, which are printed. */
async function compile({ io, logLevel }: Context, options: InitAgentValues): Promise<Compiled | undefined> {
  const project = await openProject(io, options)
  const { name, namespace } = options
  const { plan, diagnostics } = await compileWithoutValues(io, options, { name, namespace }, { project })
  if (plan) return { project, plan }
  printDiagnostics(diagnostics, io, logLevel)
  io.stderr.write(`${failureSummary(diagnostics, 'nothing was committed')}\n`)
  return undefined
}

/** What a controller has to know, wherever it reads. Throws a UsageError for a namespace that nobody has said. */
function followedBy(
  { project: { environment }, plan: { environment: planned } }: Compiled,
  { controllerNamespace }: InitAgentValues,
) {
  if (planned.namespace === undefined)
    throw new UsageError('the namespace of the environment is not known', { hint: 'add `--namespace NAMESPACE`' })
  return {
    application: planned.name,
    ...(environment && { environment: environment.key }),
    namespace: planned.namespace,
    createNamespace: environment?.publish.createNamespace ?? false,
    ...(controllerNamespace !== undefined && { controllerNamespace }),
  }
}
