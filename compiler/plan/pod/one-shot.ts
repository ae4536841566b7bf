import type { Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { PlanOptions } from '../../options.ts'
import { type PlanContext, shellImage } from '../context.ts'
import type { ContainerPlan, OncePlan } from '../plan.ts'
import { builtImage } from './built-image.ts'
import { planProbes } from './probes.ts'

/** Programs that a `command` can start with. Any other first argument may be meant for the entrypoint of the image. */
const PROGRAMS = new Set(
  `sh bash ash dash zsh busybox echo printf true false test sleep date id env ls cat cp mv rm mkdir chmod chown
  touch ln tar tail top watch find sed awk grep nc ncat wget curl ping nslookup dig getent ip iptables ssh scp
  rsync git make openssl psql pg_isready pg_dump pg_restore createdb mysql mysqladmin mysqldump mariadb mongosh
  mongo redis-cli sqlite3 kafka-topics kafka-topics.sh python python3 pip node npm npx yarn pnpm bun deno ruby
  bundle rake rails php composer java mvn gradle go perl dotnet mix aws gcloud az mc kubectl`.split(/\s+/),
)

/** Returns true if the first word of a `command` is a program, whatever the entrypoint of the image is. */
export const startsWithProgram = (first: string): boolean => first.startsWith('/') || PROGRAMS.has(first)

/** Returns the hint for a member whose program is not known: to set `entrypoint` to the program. */
export const programHint = (hasCommand: boolean): string =>
  `set \`entrypoint\` to the program that its image starts${hasCommand ? '; `command` stays its arguments' : ', with its arguments'}`

/** Hint for a member that should end, but counts as a server because of its healthcheck. */
export const UNCHECKED_HINT = 'remove `healthcheck`, with which it counts as a server'

/**
 * Returns the end of a hint, which says that `deploy` asks the registry. Empty if registries were already asked, and
 * for `publish`.
 */
const askingHint = ({ imagePrograms, forRepository }: PlanOptions): string =>
  imagePrograms || forRepository ? '' : '; without it, `deploy` asks the registry'

const unknownProgram = diagnostic({
  code: 'restart/unknown-program',
  severity: 'warning',
  loss: true,
  explain: `Compose starts a container without a restart policy once. Here the service shares the Pod of another one, and Kubernetes starts all containers of that Pod again whenever they end. devctl prevents that if it knows which program the container starts, but only the image knows what comes before this \`command\`.

\`\`\`yaml
services:
  migrate:
    image: shop/tools:4
    entrypoint: [/usr/bin/tools]
    command: [migrate]
    network_mode: service:db
\`\`\``,
  text: (p: { service: string; hint: string }) => ({
    message: `\`${p.service}\` is started again whenever it ends: the program of its image is not known`,
    hint: `${p.hint}; for a server, write \`restart: always\``,
  }),
})

/** Maximum number of restarts after failures for a program without a restart policy. */
const RETRIES = 5

/**
 * Plans how to run a member of a long-running Pod whose restart policy lets its program end. The container keeps
 * running after the program has ended, because otherwise the kubelet would restart it, or the Pod would not become
 * ready. A member without a policy may be a server, so its program is restarted a few times if it fails. Returns
 * undefined for members that are servers or are always restarted, and for members whose program is not known.
 */
export function planOnce(context: PlanContext, service: Service, container: ContainerPlan): OncePlan | undefined {
  const { policy, maxAttempts } = service.restart
  if (!mayEnd(service, container)) return undefined
  const ofImage = usedImageProgram(context, service, container)
  if (!ofImage) return undefined
  const { entrypoint, cmd } = ofImage
  const { command = [], args = [] } = container
  if (isEndless([...entrypoint, ...cmd, ...command, ...args])) return undefined
  const retries = policy?.value === 'no' ? 0 : policy ? maxAttempts?.value : RETRIES
  return {
    toolsImage: shellImage(context),
    ...(entrypoint.length > 0 && { entrypoint }),
    ...(cmd.length > 0 && { cmd }),
    ...(retries !== undefined && { retries }),
  }
}

/**
 * Returns true if `planOnce` would run a member of a long-running Pod once, but does not know the program of its image.
 * The file has to indicate that the member ends, with a restart policy or with arguments of a command. Without either,
 * the member may just as well be a server.
 */
export function lacksProgram(context: PlanContext, service: Service, container: ContainerPlan): boolean {
  const says = service.restart.policy !== undefined || (container.args ?? []).length > 0
  return says && mayEnd(service, container) && !usedImageProgram(context, service, container)
}

/**
 * Reports a member without a restart policy for which `lacksProgram` is true. Does nothing if the registry of its image
 * was asked, because the answer is reported instead. Also ignores members whose arguments begin with an option, because
 * most servers have such arguments.
 */
export function reportUnknownProgram({ options, reporter }: PlanContext, { name, restart, command }: Service): void {
  if (restart.policy || options.imagePrograms || !command || command.words[0]?.startsWith('-')) return
  reporter.report(unknownProgram, command.span, { service: name, hint: programHint(true) + askingHint(options) })
}

/** Returns true if nothing in the file says that the program of a member keeps running. */
function mayEnd(service: Service, container: Probed): boolean {
  const { policy, maxAttempts } = service.restart
  if (policy?.value === 'always' || (!policy && maxAttempts)) return false
  return !isServer(service, policy !== undefined, container)
}

/** True for common commands that keep a container running. */
const isEndless = ([program, ...args]: readonly string[]): boolean =>
  program === 'top' ||
  program === 'watch' ||
  (program === 'sleep' && args.includes('infinity')) ||
  (program === 'tail' && args.some(one => /^-\w*[fF]/.test(one)))

type Probed = Pick<ContainerPlan, 'readinessProbe' | 'livenessProbe'>

/** Returns true if the file says that the program of a member keeps running. */
export function lasts(context: PlanContext, service: Service): boolean {
  if (!mayEnd(service, planProbes(context, service))) return true
  const program = programOf(service)
  const { entrypoint, cmd } = usedImageProgram(context, service, program) ?? NO_PROGRAM
  return isEndless(program.command ?? [...entrypoint, ...cmd, ...(program.args ?? [])])
}

/** Returns true if a member has probes, or if it has ports but no restart policy. */
function isServer({ ports, expose }: Service, hasPolicy: boolean, container: Probed): boolean {
  if (container.readinessProbe || container.livenessProbe) return true
  return !hasPolicy && (ports.length > 0 || expose.length > 0)
}

/** Entrypoint and command of an image. */
interface ImageProgram {
  readonly entrypoint: readonly string[]
  readonly cmd: readonly string[]
}

const NO_PROGRAM: ImageProgram = { entrypoint: [], cmd: [] }

/**
 * Returns the parts of the image's program that the container does not replace; undefined if the program that the
 * container runs is not known.
 */
function usedImageProgram(
  context: PlanContext,
  service: Service,
  { command, args = [] }: Pick<ContainerPlan, 'command' | 'args'>,
): ImageProgram | undefined {
  if (command) return NO_PROGRAM
  const ofImage = imageProgram(context, service)
  const [first] = args
  if (!ofImage) return first !== undefined && startsWithProgram(first) ? NO_PROGRAM : undefined
  const { entrypoint } = ofImage
  const cmd = args.length > 0 ? [] : ofImage.cmd
  return entrypoint.length + cmd.length + args.length > 0 ? { entrypoint, cmd } : undefined
}

/** Returns the entrypoint and the command of an image; undefined if they are not known. */
function imageProgram(context: PlanContext, service: Service): ImageProgram | undefined {
  const { imageConfigs, imagePrograms } = context.options
  const config = imageConfigs?.get(service.name) ?? imagePrograms?.get(service.name)
  if (config) return { entrypoint: config.Entrypoint ?? [], cmd: config.Cmd ?? [] }
  const built = builtImage(context, service)
  if (built?.entrypoint && built.entrypoint.length > 0) return { entrypoint: built.entrypoint, cmd: built.cmd ?? [] }
  return built?.base === 'scratch' ? { entrypoint: [], cmd: built.cmd ?? [] } : undefined
}

/** Returns true if the file sets a healthcheck for a service. */
export const isChecked = ({ healthcheck }: Service): boolean =>
  healthcheck !== undefined && healthcheck.check.kind !== 'none'

/**
 * Returns true if devctl can keep the restart policy of a member whose program may end: the policy is not `always`, the
 * file sets no healthcheck, and the program is known.
 */
export function keepsPolicy(context: PlanContext, service: Service): boolean {
  return service.restart.policy?.value !== 'always' && !isChecked(service) && isProgramKnown(context, service)
}

const isProgramKnown = (context: PlanContext, service: Service): boolean =>
  usedImageProgram(context, service, programOf(service)) !== undefined

/** Returns the program and the arguments that the file sets. */
function programOf({ entrypoint, command }: Service): Pick<ContainerPlan, 'command' | 'args'> {
  // A cleared entrypoint makes the command the program.
  const program = entrypoint && [...entrypoint.words, ...(command?.words ?? [])]
  return { ...(program?.length && { command: program }), ...(command && { args: command.words }) }
}

/**
 * Returns the hint for a member that cannot keep its restart policy: the changes after which the member can keep it.
 * Returns undefined if no change is needed.
 */
export function onceHint(context: PlanContext, service: Service): string | undefined {
  const isKnown = isProgramKnown(context, service)
  const steps = [
    ...(isChecked(service) ? [UNCHECKED_HINT] : []),
    ...(isKnown ? [] : [programHint((service.command?.words.length ?? 0) > 0)]),
  ]
  if (steps.length === 0) return undefined
  return steps.join(', and ') + (isKnown || isChecked(service) ? '' : askingHint(context.options))
}
