import { posix } from 'node:path'
import { controllerAddress } from '../../adapters/git/repository-url.ts'
import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import type { Plan } from '../../compiler/plan/plan.ts'
import { toDnsLabel } from '../../compiler/values/dns-name.ts'
import { compileWithoutValues } from '../../project/compile-without-values.ts'
import { openProject } from '../../project/open-project.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { LocalContext } from '../../project/session.ts'
import type { Workspace } from '../../project/workspace.ts'
import { type ArtifactTarget, agentName } from '../agents/agents.ts'
import { argocdApplicationSet } from '../agents/application-set.ts'
import type { PublishEvent } from '../publish/events.ts'
import { ociReference, parseReference, repositoryIn } from '../publish/oci-reference.ts'
import { refuseSecretsIn } from '../publish/secrets/secret-check.ts'
import { atPlace, type Destination, destinationOf, sharedFolder } from '../publish/target/destination.ts'
import { type Agent, ARGOCD, FLUX, messageOf, messageOfAll, NOT_DECRYPTED, SOPS_KEYS, toDo } from './agent.ts'
import type { AgentSettings, InitInput } from './input.ts'

/** File with a controller's objects. */
export interface AgentFile {
  readonly agent: Agent
  readonly project: OpenProject
  /** Address of the repository to commit to. */
  readonly address: Destination['target']['address']
  /** Branch to commit to. If absent, the main branch of the repository. */
  readonly branch?: string
  /** Path from the root of the repository, with `/` as the separator. */
  readonly path: string
  readonly textFor: (branch: string) => string
  readonly message: string
  /**
   * Branch for a pull request. It is not below the branch of `publish`, because a git branch cannot be a folder of
   * other branches.
   */
  readonly requestBranch: string
  /** Steps left to do after the file is applied. */
  readonly toDo: readonly string[]
}

/** Diagnostics that prevent a file from being created. */
interface Refused {
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * Returns the file to commit for a controller, or only the text of the file if only the text was requested. If there
 * are errors, reports the diagnostics in an event and returns them. Throws a UsageError for missing input, and for
 * input that cannot be combined.
 */
export async function agentFile(
  world: LocalContext<PublishEvent>,
  input: InitInput,
): Promise<AgentFile | { readonly text: string } | Refused> {
  const { secrets } = world.workspace
  const file = input.all ? await allObject(world, input) : await oneObject(world, input)
  if ('diagnostics' in file) {
    world.on({ type: 'diagnostics', diagnostics: file.diagnostics })
    return file
  }
  if ('text' in file) {
    refuseSecretsIn(new Map([['the file', file.text]]), secrets)
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

/** Returns the file with the object for one environment of an application. */
async function oneObject(
  world: LocalContext<PublishEvent>,
  options: InitInput,
): Promise<AgentFile | { readonly text: string } | Refused> {
  const { workspace } = world
  const agent = options.controller === 'argocd' ? ARGOCD : FLUX
  const compiled = await compile(workspace, options)
  if ('diagnostics' in compiled) return compiled
  const { project, plan } = compiled
  const settings = withDecryption(world, agent, project, options.settings)
  const artifact = artifactToRead(options, project)
  if (artifact && options.isTextOnly)
    return { text: agent.artifactObjects({ ...followedBy(compiled, options), ...artifact }, settings) }
  const { name } = plan.environment
  const { target: to, path } = fileDestination(workspace, options, project, name, artifact !== undefined)
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
  // Validates the address before anything is fetched.
  readByController(repository, options, project)
  const target = { ...followed, repository, path, shared: sharedFolder(application) }
  return {
    ...file,
    textFor: branch => agent.objects({ ...target, branch }, settings),
    message: messageOf(agent, followed, path === '.' ? 'this repository' : path),
    toDo: toDo(agent, target, settings),
  }
}

/**
 * Returns the settings with the keys that decrypt values encrypted by SOPS. Argo CD does not accept such keys, which is
 * reported.
 */
function withDecryption(
  { on }: LocalContext<PublishEvent>,
  agent: Agent,
  { environment }: OpenProject,
  said: AgentSettings,
) {
  if (environment?.secrets.backend !== 'sops') return said
  if (agent === FLUX) return { decryptionSecret: SOPS_KEYS, ...said }
  on({ type: 'warning', ...NOT_DECRYPTED })
  return said
}

/**
 * Returns the artifact to follow; undefined if the controller follows a folder of a repository. Throws a UsageError for
 * options that cannot be combined.
 */
function artifactToRead(
  { oci: option, url, path }: InitInput,
  { environment }: OpenProject,
): Pick<ArtifactTarget, 'artifact' | 'tag'> | undefined {
  const oci = option ?? environment?.publish.oci?.value
  if (oci === undefined) return undefined
  if (path !== undefined)
    throw new UsageError('`--path` cannot be combined with `--oci`', { hint: 'the folder of the file is `--into`' })
  if (url !== undefined) ociReference(url, '--url')
  const { name, tag } = parseReference(oci, environment?.key)
  return { artifact: url === undefined ? name : repositoryIn(url), tag }
}

/**
 * Returns the destination of the file. Throws a UsageError if neither an option nor the manifest names a destination.
 */
function fileDestination(
  workspace: Workspace,
  options: InitInput,
  project: OpenProject,
  application: string,
  isForArtifact: boolean,
): Destination {
  const { repository } = options
  if (isForArtifact && repository === undefined && !project.environment?.publish.repository)
    throw new UsageError('the repository for the file is not known', {
      hint: 'add `--repository ADDRESS`, or pipe `--print` to `kubectl apply -f -`',
    })
  const path = isForArtifact ? '.' : options.path
  return destinationOf(workspace, { ...options, path, verify: true }, project, application)
}

/** Returns the file with the object for every published folder of the repository. */
async function allObject(world: LocalContext<PublishEvent>, options: InitInput): Promise<AgentFile | Refused> {
  const { workspace } = world
  if (options.controller !== 'argocd')
    throw new UsageError('`--all` is for `--argocd`, whose ApplicationSet reads the lock files')
  if (options.oci !== undefined)
    throw new UsageError('`--oci` cannot be combined with `--all`', { hint: 'an artifact is one application' })
  if (options.namespace !== undefined)
    throw new UsageError('`--namespace` cannot be combined with `--all`', { hint: 'each folder has its own' })
  const project = await openProject(workspace, options)
  const { diagnostics } = project
  if (diagnostics.some(({ severity }) => severity === 'error')) return { diagnostics }
  const settings = withDecryption(world, ARGOCD, project, options.settings)
  const { name, path = '.', url, controllerNamespace } = options
  const { target } = destinationOf(workspace, { ...options, path, verify: true }, project, 'all')
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

/**
 * Returns the address in the form that controllers accept. Throws a UserError for an invalid address, with its position
 * if it comes from the manifest.
 */
function readByController(address: string, { url, repository }: InitInput, { environment }: OpenProject): string {
  const place = (url ?? repository) === undefined ? environment?.publish.repository?.span : undefined
  return atPlace(place, () => controllerAddress(address))
}

const pathOf = ({ folder }: Agent, name: string, { into = folder }: InitInput) => posix.join(into, `${name}.yaml`)

/** Returns the name of the repository at an address: `deploy` for `ssh://git@host/team/deploy.git`. */
const repositoryName = (address: string) => posix.basename(address.replace(/\/+$/, ''), '.git')

interface Compiled {
  readonly project: OpenProject
  readonly plan: Plan
}

/** Returns the project and its plan, or the diagnostics. */
async function compile(workspace: Workspace, options: InitInput): Promise<Compiled | Refused> {
  const project = await openProject(workspace, options)
  const { name, namespace } = options
  const { plan, diagnostics } = await compileWithoutValues(workspace, options, { name, namespace }, { project })
  return plan ? { project, plan } : { diagnostics }
}

/**
 * Returns the information that a controller needs about an application, for a repository and for an artifact alike.
 * Throws a UsageError if no namespace is set.
 */
function followedBy(
  { project: { environment }, plan: { environment: planned } }: Compiled,
  { controllerNamespace }: InitInput,
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
