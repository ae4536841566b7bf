import type { Service } from '../../compose/project.ts'
import { type PlanContext, shellImage } from '../context.ts'
import type { ContainerPlan, OncePlan } from '../plan.ts'
import { builtImage } from './built-image.ts'

/** Programs that a command of an image names; other first words may be arguments of its entrypoint. */
const PROGRAMS = new Set(
  `sh bash ash dash zsh busybox echo printf true false test sleep date id env ls cat cp mv rm mkdir chmod chown touch ln tar
  find sed awk grep nc ncat wget curl ping nslookup dig getent ip iptables ssh scp rsync git make openssl psql pg_isready
  pg_dump pg_restore createdb mysql mysqladmin mysqldump mariadb mongosh mongo redis-cli sqlite3 kafka-topics
  kafka-topics.sh python python3 pip node npm npx yarn pnpm bun deno ruby bundle rake rails php composer java mvn
  gradle go perl dotnet mix aws gcloud az mc kubectl`.split(/\s+/),
)

/** Runs of a program without a restart policy that may fail before it is left alone. */
const RETRIES = 5

/**
 * Returns how a member of a Pod that lasts is run if its policy lets it end: its container then stays, so that the
 * kubelet neither restarts it nor holds back the others. Without a policy a member may be a server: it is started again
 * a few times when it fails. Undefined for members that are always restarted, and for those whose program is not known.
 */
export function planOnce(context: PlanContext, service: Service, container: ContainerPlan): OncePlan | undefined {
  const { policy, maxAttempts } = service.restart
  if (policy?.value === 'always' || (!policy && maxAttempts) || isServer(service, policy !== undefined, container))
    return undefined
  const words = imageWords(context, service, container)
  const { command = [], args = [] } = container
  if (!words || isEndless([...words, ...command, ...args])) return undefined
  const retries = policy?.value === 'no' ? 0 : policy ? maxAttempts?.value : RETRIES
  return {
    toolsImage: shellImage(context),
    ...(words.length > 0 && { words }),
    ...(retries !== undefined && { retries }),
  }
}

/** True for the usual ways to keep a container running. */
const isEndless = ([program, ...args]: readonly string[]): boolean =>
  (program === 'sleep' && args.includes('infinity')) || (program === 'tail' && args.some(one => /^-\w*[fF]/.test(one)))

/** True if a member is checked, or has no policy and serves others. */
function isServer({ ports, expose }: Service, hasPolicy: boolean, container: ContainerPlan): boolean {
  if (container.readinessProbe || container.livenessProbe) return true
  return !hasPolicy && (ports.length > 0 || expose.length > 0)
}

/** The words of the image before those of the container; undefined if it is not known what the container runs. */
function imageWords(
  context: PlanContext,
  service: Service,
  { command, args = [] }: Pick<ContainerPlan, 'command' | 'args'>,
): readonly string[] | undefined {
  if (command) return []
  const ofImage = imageProgram(context, service)
  const words = ofImage && [...ofImage.entrypoint, ...(args.length > 0 ? [] : ofImage.cmd)]
  if (words) return words.length + args.length > 0 ? words : undefined
  const [first] = args
  return first !== undefined && (first.startsWith('/') || PROGRAMS.has(first)) ? [] : undefined
}

/** The entrypoint and the command of an image; undefined if one is not known. */
function imageProgram(
  context: PlanContext,
  service: Service,
): { readonly entrypoint: readonly string[]; readonly cmd: readonly string[] } | undefined {
  const config = context.options.imageConfigs?.get(service.name)
  if (config) return { entrypoint: config.Entrypoint ?? [], cmd: config.Cmd ?? [] }
  const built = builtImage(context, service)
  if (built?.entrypoint && built.entrypoint.length > 0) return { entrypoint: built.entrypoint, cmd: built.cmd ?? [] }
  return built?.base === 'scratch' ? { entrypoint: [], cmd: built.cmd ?? [] } : undefined
}

/** True if a service has a healthcheck of its own. */
export const isChecked = ({ healthcheck }: Service): boolean =>
  healthcheck !== undefined && healthcheck.check.kind !== 'none'

/** True if the policy of a member that may end is kept. */
export function keepsPolicy(context: PlanContext, service: Service): boolean {
  const { entrypoint, command, restart } = service
  if (restart.policy?.value === 'always' || isChecked(service)) return false
  // A cleared entrypoint makes the command the program.
  const program = entrypoint && [...entrypoint.words, ...(command?.words ?? [])]
  const words = { ...(program?.length && { command: program }), ...(command && { args: command.words }) }
  return imageWords(context, service, words) !== undefined
}
