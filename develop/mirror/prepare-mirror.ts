import { readFileSync } from 'node:fs'
import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { reasonOf } from '../../compiler/diagnostics/system-error.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { Development, DevelopmentContainer } from '../../compiler/manifest/development.ts'
import { shownPlace } from '../../compiler/text/source.ts'
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

/** Default image of the agent: a stock image with Node.js. */
const AGENT_IMAGE = 'node:22-alpine'
/** An image with a static busybox. */
const TOOLS_IMAGE = 'busybox:1.37'

/** Everything that is known of a development container before anything is changed. */
export interface PreparedMirror {
  readonly take: ReplaceInput<SessionConfig>
  readonly folders: readonly LocalFolder[]
  /** The container in which the command runs. */
  readonly container: string
  /** `command`: the container runs its program by itself. */
  readonly runs: 'hold' | 'command'
  /** The words of a Job: the session runs them once, in a container that holds. */
  readonly once?: readonly string[]
  /** `up`: what the container writes stays there. */
  readonly direction: 'both' | 'up'
  /** Connection to the agent. */
  readonly way: AgentWay
}

/**
 * Reads the input of a mirror: folders, variables, files of secrets, the user of the image; `rights` were requested
 * before. Throws a UserError if one of them does not exist.
 */
export async function prepareMirror(
  world: UpContext,
  input: UpInput,
  found: FoundDevelopment,
  original: KubeObject | undefined,
  given: readonly DevelopmentVariable[],
  rights: Promise<MissingRights>,
): Promise<PreparedMirror> {
  const { workspace, on } = world
  const { development, folder, composeFolders, runsService } = found
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
  const settings = settingsOf(development, { variables })
  const hostNetwork = podOf(original).hostNetwork ?? false
  const container = containerOf(original, development)
  const own = input.command ?? development.command
  // Without a command, an image without an application would end at once, as a shell does.
  const hasProgram = own ? !isShell(own) : original !== undefined
  const runsOwn = input.detached ? hasProgram : runsService && !input.command
  /** Asks for each image once. */
  const configs = new Map<string, ReturnType<typeof imageConfig>>()
  const configOf = (image: string) => {
    const config = configs.get(image) ?? imageConfig(image, world)
    configs.set(image, config)
    return config
  }
  const once = runsService && !own ? await jobWords(world, original, development, configOf) : undefined
  const runs = runsOwn && !once ? 'command' : 'hold'
  /** Gives the settings and the user by the image of an application; a rebuild gives it another one. */
  const ofImage = async (live: KubeObject | undefined) => {
    const one = containerOf(live, development)
    const isImagesCommand = runs === 'command' && !development.command && !one.command
    const isOpen = one.user === undefined || isImagesCommand
    const config = isOpen && one.image !== undefined ? await configOf(one.image) : undefined
    const user = one.user === undefined && config ? parseUser(config.User ?? '') : undefined
    // The image's own words are needed for process 1 to start them, and to start them again.
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
        agentImage: env['DEVCTL_AGENT_IMAGE'] || AGENT_IMAGE,
        toolsImage: env['DEVCTL_TOOLS_IMAGE'] || TOOLS_IMAGE,
        runs,
        files: development.secrets.map(one => secretFile(one, folder, env)),
        ...(first.user && { user: first.user }),
      },
    },
  }
}

/** The words of a Job, which runs once; undefined for what is none, and for words that only an unknown image has. */
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

/** Folders of `develop.watch` alone only travel into the container. */
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

/** The container that is replaced, its image and the number of its user, where they are known. */
function containerOf(
  original: KubeObject | undefined,
  { container, image, securityContext }: Development,
): ContainerCommand & {
  readonly name: string
  readonly image: string | undefined
  readonly user: number | undefined
} {
  const pod = podOf(original)
  const found = container ? pod.containers.find(({ name }) => name === container.value) : pod.containers[0]
  if (original && container && !found)
    throw new UserError(`${named(original)} has no container \`${container.value}\``, {
      notes: [shownPlace(container.span)],
      hint: `its containers are ${pod.containers.map(({ name }) => `\`${name}\``).join(', ')}`,
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

/** The content of a file, in base64. */
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
