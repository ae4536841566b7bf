import { basename } from 'node:path/posix'
import type { Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { At } from '../../text/source.ts'
import { narrow, type PlanContext } from '../context.ts'
import type { ContainerSecurity } from '../plan.ts'
import { configuredImage } from './configured-image.ts'

const userName = diagnostic({
  code: 'security/user-name',
  severity: 'warning',
  loss: true,
  explain: `Kubernetes takes users and groups by number only; it does not look up names in the image. Without a number the container runs as the user of the image.

\`\`\`yaml
user: "999:999"     # id -u postgres, id -g postgres
\`\`\``,
  text: (p: { key: string; name: string }) => ({
    message: `\`${p.key}: ${p.name}\` is a name, but Kubernetes takes only numbers; it is left out`,
    hint: 'use the number: `docker run --rm IMAGE id` prints it',
  }),
})

/** Highest user or group id in Kubernetes, where ids have 31 bits. */
const HIGHEST_ID = 2147483647

const idOutOfRange = diagnostic({
  code: 'security/id-out-of-range',
  severity: 'error',
  explain: `A user or group id is a number from 0 to 2147483647. The API server refuses others.

\`\`\`yaml
user: "1000:1000"
\`\`\``,
  text: (p: { key: string; id: string }) => ({
    message: `\`${p.key}\` must be between 0 and ${HIGHEST_ID}, not \`${p.id}\``,
    hint: 'use the number: `docker run --rm IMAGE id` prints it',
  }),
})

const contradiction = diagnostic({
  code: 'security/contradiction',
  severity: 'error',
  explain:
    '`no-new-privileges` becomes `allowPrivilegeEscalation: false`, which Kubernetes does not allow together with `privileged`. Remove one of the two.',
  text: (p: { field: string }) => ({
    message: `\`no-new-privileges\` contradicts \`${p.field}\`: Kubernetes refuses the two together`,
    hint: 'remove one of the two',
  }),
})

const unknownOption = diagnostic({
  code: 'security/unknown-option',
  severity: 'warning',
  loss: true,
  explain:
    '`security_opt` is passed to the container engine. devctl supports `no-new-privileges`, `seccomp`, `apparmor`, `label` and `systempaths=unconfined`. Others have no equivalent and are left out.',
  text: (p: { option: string }) => ({
    message: `the security option \`${p.option}\` has no equivalent and is left out`,
  }),
})

const profileOnNode = diagnostic({
  code: 'security/profile-on-node',
  severity: 'warning',
  loss: true,
  explain:
    'A seccomp or AppArmor profile is loaded on the node; it is not part of the Pod. The manifest refers to it by name. Put the file into the `seccomp` folder of the kubelet, or load the AppArmor profile, on every node.',
  text: (p: { kind: string; profile: string }) => ({
    message: `the ${p.kind} profile \`${p.profile}\` must be on every node`,
    hint: 'to get the default profile of the runtime, remove it',
  }),
})

/**
 * Plans the security context of a service's container. `members` are the services of its Pod. Reports settings that
 * Kubernetes cannot express or refuses.
 */
export function planContainerSecurity(
  context: PlanContext,
  service: Service,
  members: readonly Service[],
): ContainerSecurity | undefined {
  const options = readOptions(context, service, sharesWithNode(members))
  checkContradiction(context, service, options.allowPrivilegeEscalation === false)
  const isRestricted = context.options.policy === 'restricted'
  const drop = isRestricted ? ['ALL'] : names(service.capDrop)
  const add = names(service.capAdd)
  const security: ContainerSecurity = {
    ...planUser(context, service, configuredImage(context, service)?.user),
    ...(service.privileged?.value && { privileged: true }),
    ...(service.readOnly?.value && { readOnlyRootFilesystem: true }),
    ...options,
    ...(isRestricted && { allowPrivilegeEscalation: false }),
    ...((add.length > 0 || drop.length > 0) && {
      capabilities: { ...(add.length > 0 && { add }), ...(drop.length > 0 && { drop }) },
    }),
  }
  return Object.keys(security).length > 0 ? security : undefined
}

/** Sorts capabilities, whose order has no meaning, and removes duplicates. */
const names = (list: readonly At<string>[]): readonly string[] => [...new Set(list.map(({ value }) => value))].sort()

/**
 * Returns the user and group in `user` as numbers. Omits names, because only the image can resolve them, and reports
 * the omitted names unless `user` is the image's own user.
 */
export function planUser(
  { reporter }: Pick<PlanContext, 'reporter'>,
  { user }: { readonly user?: At<string> | undefined },
  ofImage?: string,
): Pick<ContainerSecurity, 'runAsUser' | 'runAsGroup'> {
  if (!user || user.value === '') return {}
  const [name = '', group] = user.value.split(':')
  const runAsUser = toId(name)
  const runAsGroup = group === undefined || group === '' ? undefined : toId(group)
  for (const part of [name, group])
    if (isNumber(part) && toId(part) === undefined)
      reporter.report(idOutOfRange, narrow(user.span, part), { key: 'user', id: part })
  const lost = [...(runAsUser === undefined ? [name] : []), ...(runAsGroup === undefined ? [group] : [])]
  const names = lost.filter(one => one && !isNumber(one)).join(':')
  if (names !== '' && user.value !== ofImage)
    reporter.report(userName, narrow(user.span, names), { key: 'user', name: names })
  return { ...(runAsUser !== undefined && { runAsUser }), ...(runAsGroup !== undefined && { runAsGroup }) }
}

/**
 * Returns the groups in `group_add` as sorted numbers. Reports and omits names other than `root`, and numbers that are
 * out of range.
 */
export function planGroups(context: PlanContext, services: readonly Service[]): readonly number[] {
  const found = new Set<number>()
  for (const { groupAdd } of services)
    for (const { value, span } of groupAdd) {
      const id = toId(value)
      if (id !== undefined) found.add(id)
      else if (isNumber(value)) context.reporter.report(idOutOfRange, span, { key: 'group_add', id: value })
      else context.reporter.report(userName, span, { key: 'group_add', name: value })
    }
  return [...found].sort((a, b) => a - b)
}

const isNumber = (text: string | undefined): text is string => text !== undefined && /^[-+]?\d+$/.test(text)

/** Returns the number of a user or group; undefined for a name other than `root`, which is 0 in every image. */
export function toId(name: string): number | undefined {
  if (name === 'root') return 0
  return /^\d+$/.test(name) && Number(name) <= HIGHEST_ID ? Number(name) : undefined
}

type Options = Pick<
  ContainerSecurity,
  'allowPrivilegeEscalation' | 'seccompProfile' | 'appArmorProfile' | 'seLinuxOptions' | 'procMount'
>

function readOptions(context: PlanContext, service: Service, isOnNode: boolean): Options {
  let found: Options = {}
  for (const option of service.securityOpt)
    found = { ...found, ...readOption(context, service, option, { found, isOnNode }) }
  return found
}

function readOption(
  { reporter }: PlanContext,
  service: Service,
  { value: option, span }: At<string>,
  { found, isOnNode }: { readonly found: Options; readonly isOnNode: boolean },
): Options {
  // Compose files use both `key=value` and `key:value`.
  const [, key = '', value = ''] = /^([^=:]*)(?:[=:](.*))?$/s.exec(option) ?? []
  switch (key) {
    case 'no-new-privileges':
      return value === 'false' ? {} : { allowPrivilegeEscalation: false }
    case 'seccomp':
      if (value === 'unconfined') return { seccompProfile: { type: 'Unconfined' } }
      if (value === 'builtin' || value === '') return {}
      reporter.report(profileOnNode, span, { kind: 'seccomp', profile: value })
      return { seccompProfile: { type: 'Localhost', localhostProfile: basename(value) } }
    case 'apparmor':
      if (value === 'unconfined') return { appArmorProfile: { type: 'Unconfined' } }
      if (value === 'docker-default' || value === 'runtime/default' || value === '') return {}
      reporter.report(profileOnNode, span, { kind: 'AppArmor', profile: value })
      return { appArmorProfile: { type: 'Localhost', localhostProfile: value } }
    case 'label': {
      if (value === 'disable') return { seLinuxOptions: { ...found.seLinuxOptions, type: 'spc_t' } }
      const [, part, text] = /^(user|role|type|level):(.+)$/.exec(value) ?? []
      if (part) return { seLinuxOptions: { ...found.seLinuxOptions, [part]: text } }
      break
    }
    case 'systempaths':
      // A privileged container sees all system paths anyway.
      if (value === 'unconfined' && service.privileged?.value) return {}
      if (value === 'unconfined' && !isOnNode) return { procMount: 'Unmasked' }
  }
  reporter.report(unknownOption, span, { option })
  return {}
}

/**
 * Returns true if a container of a Pod sees the parts of /proc that are hidden by default. Kubernetes (1.33) allows
 * this only for Pods with their own user namespace, which cannot share the network, process or IPC namespace of the
 * node.
 */
export const seesSystemPaths = (members: readonly Service[]): boolean =>
  !sharesWithNode(members) &&
  members.some(
    ({ securityOpt, privileged }) =>
      !privileged?.value && securityOpt.some(({ value }) => /^systempaths[=:]unconfined$/.test(value)),
  )

/** Returns true if the Pod of these services uses the network, process or IPC namespace of its node. */
const sharesWithNode = (members: readonly Service[]): boolean =>
  members.some(({ networkMode, pid, ipc }) => [networkMode, pid, ipc].some(mode => mode?.value === 'host'))

function checkContradiction({ reporter }: PlanContext, service: Service, isConfined: boolean): void {
  if (!isConfined) return
  const option = service.securityOpt.find(({ value }) => value.startsWith('no-new-privileges'))
  const related = option && [{ span: option.span, message: '`no-new-privileges` is here' }]
  for (const { privileged } of service.privileged?.value ? [service] : service.preStart)
    if (privileged?.value) reporter.report(contradiction, privileged.span, { field: 'privileged' }, related)
}
