import { readFileSync } from 'node:fs'
import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { reasonOf } from '../../compiler/diagnostics/system-error.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { Development, DevelopmentContainer } from '../../compiler/manifest/development.ts'
import { shownPlace } from '../../compiler/text/source.ts'
import { AGENT_IMAGE, SHELL_IMAGE } from '../../compiler/values/images/helper-images.ts'
import { lastingContainers } from '../../constructs/manifest.ts'
import { helperImage } from '../../project/base-registry.ts'
import { type ContainerCommand, isShell, ownCommand } from '../exec/own-command.ts'
import { agentFolder, type LocalFolder, localFolders, ofHostVolumes, pathHere } from '../files/sync-folders.ts'
import type { ComposeFolder } from '../select/compose-folders.ts'
import { type DevelopmentVariable, variablesOf } from '../select/environment.ts'
import type { FoundDevelopment } from '../select/find-development.ts'
import { agentCode } from '../session/agent-code.ts'
import { agentSession, type SessionConfig } from '../session/agent-session.ts'
import type { UpContext, UpInput } from '../up-input.ts'
import { findOriginal, named } from './find-original.ts'
import { imageConfig, parseUser } from './image-facts.ts'
import type { ReplaceInput } from './replace-workload.ts'
import { settingsOf } from './settings.ts'
import { type AgentWay, chooseWay, type MissingRights } from './stream-rights.ts'

/** Input of a session that is determined before anything is changed in the cluster. */
export interface PreparedMirror {
  readonly take: ReplaceInput<SessionConfig>
  readonly folders: readonly LocalFolder[]
  /** Name of the container in which the command runs. */
  readonly container: string
  /** Behavior of the container: with `command`, process 1 runs the program; with `hold`, process 1 only waits. */
  readonly runs: 'hold' | 'command'
  /** Program and arguments of a Job: the session runs them once, in a container that otherwise only waits. */
  readonly once?: readonly string[]
  /** Direction of the synchronization: with `up`, files that the container writes are not copied to this machine. */
  readonly direction: 'both' | 'up'
  /** Way in which the session connects to the agent. */
  readonly way: AgentWay
}

/** Input of a mirror from the cluster and from the user. */
export interface MirrorOrigin {
  /** The workload that the mirror replaces; undefined for a service that is not deployed. */
  readonly original: KubeObject | undefined
  /** Variables that the user has set for the container. */
  readonly given: readonly DevelopmentVariable[]
  /** Image with a static busybox that the environment of the manifest sets (`shellImage`). */
  readonly shellImage?: string | undefined
  /** Permissions on Pods that the user lacks. The request for them has already been sent. */
  readonly rights: Promise<MissingRights>
}

/**
 * Reads the input of a mirror: folders, variables, files of secrets and the user of the image. Throws a UserError if a
 * folder or file does not exist.
 */
export async function prepareMirror(
  world: UpContext,
  input: UpInput,
  found: FoundDevelopment,
  { original, given, rights, shellImage }: MirrorOrigin,
): Promise<PreparedMirror> {
  const { workspace, on } = world
  const { folder, composeFolders, runsService } = found
  const development = input.detached ? withCommand(found.development, input.command) : found.development
  const { env } = workspace
  const folders = composeFolders
    ? ofHostVolumes(composeFolders, found.sources, workspace)
    : localFolders(development, { folder, boundary: found.boundary, sources: found.sources }, workspace)
  const variables = (one: DevelopmentContainer) => {
    const found = variablesOf(one, given, folder, workspace)
    on({ type: 'diagnostics', diagnostics: found.diagnostics })
    workspace.secrets?.addVariables(Object.fromEntries(found.variables.map(({ name, value }) => [name, value])))
    return found.variables
  }
  const settings = settingsOf(development, { variables, pathHere: local => pathHere(local, folder, env) })
  const hostNetwork = podOf(original).hostNetwork ?? false
  const container = containerOf(original, development)
  const own = input.command ?? development.command
  // An image without an application and without a command would exit at once, just as a shell would.
  const hasProgram = own ? !isShell(own) : original !== undefined
  const runsOwn = input.detached ? hasProgram : runsService && !input.command
  /** Requested image configurations by image, so that each one is requested only once. */
  const configs = new Map<string, ReturnType<typeof imageConfig>>()
  const configOf = (image: string) => {
    const config = configs.get(image) ?? imageConfig(image, world)
    configs.set(image, config)
    return config
  }
  const once = runsService && !own ? await jobWords(world, original, development, configOf) : undefined
  const runs = runsOwn && !once ? 'command' : 'hold'
  /**
   * Returns the settings and the user for an application. Both depend on the image of the application, which a rebuild
   * changes.
   */
  const ofImage = async (live: KubeObject | undefined) => {
    const one = containerOf(live, development)
    const isImagesCommand = runs === 'command' && !development.command && !one.command
    const isOpen = one.user === undefined || isImagesCommand
    const config = isOpen && one.image !== undefined ? await configOf(one.image) : undefined
    const user = one.user === undefined && config ? parseUser(config.User ?? '') : undefined
    // Process 1 needs the image's own command to start and restart it.
    const command = isImagesCommand ? ownCommand(one, config) : undefined
    return { settings: command ? { ...settings, command, args: [] } : settings, user }
  }
  const needs = { commands: runs === 'hold' && development.mode === 'sync', hostNetwork }
  const [{ way, notes }, services, first] = await Promise.all([
    rights.then(one => chooseWay(one, needs, world.session.namespace)),
    Promise.all(development.services.map(one => serviceOf(world, one))),
    ofImage(original),
  ])
  for (const text of notes) on({ type: 'note', text })
  return {
    folders,
    container: container.name,
    runs,
    ...(once && { once }),
    direction: isUpOnly(composeFolders) ? 'up' : 'both',
    way,
    take: {
      original: original && refOf(original),
      services: services.map(refOf),
      settings: first.settings,
      settingsOf: async live => (await ofImage(live)).settings,
      project: folder,
      takeOver: input.takeOver ?? false,
      dryRun: input.dryRun ?? false,
      session: existing =>
        agentSession(existing, {
          sshPort: development.sshServerPort,
          hostNetwork,
          folders: folders.map(agentFolder),
          write: 'auto',
          fills: development.mode === 'sync',
          reset: input.reset ?? false,
        }),
      agent: new TextDecoder().decode(agentCode()),
      facts: {
        agentImage: env['DEVCTL_AGENT_IMAGE'] || helperImage(workspace, AGENT_IMAGE),
        toolsImage: env['DEVCTL_TOOLS_IMAGE'] || (shellImage ?? helperImage(workspace, SHELL_IMAGE)),
        runs,
        files: development.secrets.map(one => secretFile(one, folder, env)),
        ...(first.user && { user: first.user }),
      },
    },
  }
}

/**
 * Returns the development container with `command`, if it is set, in place of its command and arguments. Used for a
 * command of the user that process 1 runs.
 */
function withCommand(development: Development, command: readonly string[] | undefined): Development {
  const { args: _, ...others } = development
  return command ? { ...others, command } : development
}

/**
 * Returns the command line of a Job, which runs once; undefined if the workload is not a Job, or if the command line is
 * in an image whose configuration is unknown.
 */
async function jobWords(
  world: UpContext,
  original: KubeObject | undefined,
  development: Development,
  configOf: (image: string) => ReturnType<typeof imageConfig>,
): Promise<readonly string[] | undefined> {
  if (original?.kind !== 'Job' && original?.kind !== 'CronJob') return undefined
  const container = containerOf(original, development)
  const isImages = !container.command && container.image !== undefined
  const words = ownCommand(container, isImages ? await configOf(container.image) : undefined)
  if (!words)
    world.on({
      type: 'warning',
      text: `the program of the Job \`${development.name}\` is not known here: its container starts it again whenever it has ended`,
      hint: 'write its `entrypoint` in the Compose file',
    })
  return words
}

/** True if all folders come from `develop.watch`, which only copies files into the container. */
const isUpOnly = (folders: readonly ComposeFolder[] | undefined): boolean =>
  folders?.every(({ direction }) => direction === 'up') ?? false

const refOf = ({ apiVersion, kind, metadata: { name, namespace } }: KubeObject) => ({
  apiVersion,
  kind,
  name,
  namespace,
})

interface Container extends ContainerCommand {
  readonly name: string
  readonly image?: string
  readonly securityContext?: { readonly runAsUser?: number }
}

/**
 * Returns the container that the mirror replaces. Its image and numeric user ID are set only if the settings or the
 * workload define them. Throws a UserError if the workload does not have the container that the settings name.
 */
function containerOf(
  original: KubeObject | undefined,
  { container, image, securityContext }: Development,
): ContainerCommand & {
  readonly name: string
  readonly image: string | undefined
  readonly user: number | undefined
} {
  const pod = podOf(original)
  const containers: readonly Container[] = lastingContainers(pod)
  const found = container ? containers.find(({ name }) => name === container.value) : containers[0]
  if (original && container && !found)
    throw new UserError(`${named(original)} has no container \`${container.value}\``, {
      notes: [shownPlace(container.span)],
      hint: `its containers are ${containers.map(({ name }) => `\`${name}\``).join(', ')}`,
    })
  return {
    name: found?.name ?? container?.value ?? 'dev',
    image: image?.value ?? found?.image,
    command: found?.command,
    args: found?.args,
    user: securityContext.runAsUser?.value ?? found?.securityContext?.runAsUser ?? pod.securityContext?.runAsUser,
  }
}

interface PodSpec {
  readonly hostNetwork?: boolean
  readonly containers: readonly Container[]
  readonly initContainers?: readonly Container[]
  readonly securityContext?: { readonly runAsUser?: number }
}

function podOf(original: KubeObject | undefined): PodSpec {
  const spec = (original?.['spec'] ?? {}) as {
    readonly template?: { readonly spec: PodSpec }
    readonly jobTemplate?: { readonly spec: { readonly template: { readonly spec: PodSpec } } }
  } // a workload's
  return spec.jobTemplate?.spec.template.spec ?? spec.template?.spec ?? { containers: [] }
}

async function serviceOf({ session }: UpContext, service: DevelopmentContainer): Promise<KubeObject> {
  const { name, span } = service
  const found = await findOriginal(session, service)
  if (found) return found
  throw new UserError(`there is no workload \`${name}\` in ${session.namespace}`, {
    notes: [shownPlace(span)],
    hint: 'deploy it first, or remove it from `services`',
  })
}

/** Returns the content of a file in base64. */
function secretFile(
  { local, span }: Development['secrets'][number],
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
): string {
  try {
    return readFileSync(pathHere(local, folder, env)).toString('base64')
  } catch (error) {
    throw new UserError(`\`${local}\` of \`secrets\` cannot be read: ${reasonOf(error)}`, {
      notes: [shownPlace(span)],
      hint: 'create the file, or correct the path',
    })
  }
}
