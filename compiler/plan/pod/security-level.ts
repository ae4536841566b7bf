import type { Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Span } from '../../text/source.ts'
import { type PlanContext, sortBy } from '../context.ts'
import { hostModePorts } from '../network/internal-networks.ts'
import type { SecurityLevel } from '../plan.ts'
import type { StoredMount } from '../storage/stored-mount.ts'
import { isBaselineSysctl } from './sysctls.ts'

const notRestricted = diagnostic({
  code: 'security/not-restricted',
  severity: 'error',
  explain: `\`--policy restricted\` renders Pods that a namespace with the Pod Security level \`restricted\` admits: they do not run as root, have no capabilities except \`NET_BIND_SERVICE\`, and no access to their node. This key needs more than that.

Remove it, or deploy without the policy.`,
  text: (p: { field: string; service: string }) => ({
    message: `\`${p.field}\` of \`${p.service}\` violates the policy \`restricted\``,
    hint: 'remove it, or drop `--policy restricted`',
  }),
})

const forcedLevel = diagnostic({
  code: 'security/level',
  severity: 'info',
  explain: `A namespace admits Pods up to a [Pod Security](https://kubernetes.io/docs/concepts/security/pod-security-standards/) level: \`restricted\`, \`baseline\` or \`privileged\`. Most images need \`baseline\`, because they may run as root. The keys that are shown need a higher level, or request root explicitly; a namespace with a stricter level refuses the Pods of these services.

To get manifests for a namespace with the level \`restricted\`, render them with \`--policy restricted\`, which reports what must change.`,
  text: (p: { level: Level; field: string; service: string; others: number }) => ({
    message: `the Pods need a namespace with the Pod Security level \`${p.level}\`, because of \`${p.field}\` of \`${p.service}\`${
      p.others === 0 ? '' : p.others === 1 ? ' and one other key' : ` and ${p.others} other keys`
    }`,
  }),
})

type Level = SecurityLevel['level']
type Reason = SecurityLevel['reasons'][number]

/**
 * Capabilities that the level `baseline` allows:
 * https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline
 */
const baselineCapabilities: ReadonlySet<string> = new Set(
  `AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT`.split(
    ' ',
  ),
)
const baselineSelinuxTypes = /^(container_t|container_init_t|container_kvm_t|container_engine_t)$/

/**
 * Returns the Pod Security level that the result needs, and the keys of services that force it. Under `--policy
 * restricted`, reports the keys that violate the policy.
 */
export function planSecurityLevel(
  context: PlanContext,
  services: readonly Service[],
  mountsOf: (service: Service) => readonly StoredMount[],
): SecurityLevel {
  const isRestricted = context.options.policy === 'restricted'
  const reasons = sortBy(services, ({ name }) => name).flatMap(service => {
    const found = [...reasonsOf(context, service, mountsOf(service))]
    if (isRestricted)
      for (const { field, span } of found)
        context.reporter.report(notRestricted, span, { field, service: service.name })
    return found
  })
  const has = (level: Level) => reasons.some(reason => reason.level === level)
  const level = has('privileged') ? 'privileged' : has('baseline') ? 'baseline' : 'restricted'
  // If there are errors, there is no result that could need a level.
  if (!isRestricted && !context.reporter.hasErrors) reportLevel(context, level, reasons)
  return { level, reasons }
}

/**
 * Reports the level if a key forces it, with the positions of all keys that do. A level that is needed only because an
 * ordinary image may run as root is not reported, because no key requests it.
 */
function reportLevel({ reporter }: PlanContext, level: Level, reasons: readonly Reason[]): void {
  const places = new Map<Span, Reason>()
  for (const reason of reasons)
    if (reason.level === level && reason.span && !places.has(reason.span)) places.set(reason.span, reason)
  const [first, ...others] = places
  if (!first) return
  const [span, { field, service }] = first
  reporter.report(
    forcedLevel,
    span,
    { level, field, service, others: others.length },
    others.map(([place, reason]) => ({ span: place, message: `\`${reason.field}\` of \`${reason.service}\`` })),
  )
}

function* reasonsOf(
  { project, options }: PlanContext,
  service: Service,
  mounts: readonly StoredMount[],
): Generator<Reason> {
  const reason = (field: string, level: Reason['level'], span?: Span): Reason => ({
    service: service.name,
    field,
    level,
    ...(span && { span }),
  })
  const { privileged, networkMode, pid, ipc, user } = service
  if (privileged?.value) yield reason('privileged', 'privileged', privileged.span)
  if (networkMode?.value === 'host') yield reason('network_mode', 'privileged', networkMode.span)
  if (pid?.value === 'host') yield reason('pid', 'privileged', pid.span)
  if (ipc?.value === 'host') yield reason('ipc', 'privileged', ipc.span)
  for (const { span } of hostModePorts(project, service)) yield reason('ports', 'privileged', span)
  const ofDevice = new Set(service.devices.map(({ span }) => span))
  for (const { held, span } of mounts) {
    if (held.kind === 'hostPath') yield reason(ofDevice.has(span) ? 'devices' : 'volumes', 'privileged', span)
    if (held.kind === 'nfs') yield reason('volumes', 'baseline', span)
  }
  for (const { value, span } of service.capAdd) {
    if (!baselineCapabilities.has(value)) yield reason('cap_add', 'privileged', span)
    else if (value !== 'NET_BIND_SERVICE') yield reason('cap_add', 'baseline', span)
  }
  for (const { value, span } of service.securityOpt) if (isOpen(value)) yield reason('security_opt', 'privileged', span)
  for (const { name, span } of service.sysctls)
    if (/tcp_[rw]mem$/.test(name) && !isBaselineSysctl(name)) yield reason('sysctls', 'privileged', span)
  for (const hook of service.preStart) {
    if (hook.privileged?.value) yield reason('pre_start', 'privileged', hook.privileged.span)
    if (hook.user && isRoot(hook.user.value)) yield reason('pre_start', 'baseline', hook.user.span)
  }
  if (user && isRoot(user.value)) yield reason('user', 'baseline', user.span)
  // The image's user may be root, and devctl sets no default that would keep an ordinary image from starting.
  else if (options.policy !== 'restricted') yield reason('user', 'baseline')
}

const isRoot = (user: string): boolean => /^(0|root)(:|$)/.test(user)

/** Returns true for options of `security_opt` that the level `baseline` refuses. */
function isOpen(option: string): boolean {
  if (/^(seccomp|apparmor|systempaths)[=:]unconfined$/.test(option)) return true
  const [, part, value = ''] = /^label[=:](disable|user|role|type)(?::(.*))?$/.exec(option) ?? []
  return part === 'type' ? !baselineSelinuxTypes.test(value) : part !== undefined
}
