import type { YamlValue } from '../../adapters/files/yaml-edit.ts'
import { entries, scalars } from '../../compiler/compose/read/tree-values.ts'
import { equivalentOf } from '../../compiler/plan/labels/foreign-families.ts'
import { get, isScalar, type MapTree } from '../../compiler/text/tree.ts'
import { scalarText } from '../../compiler/text/tree-text.ts'
import { type ComposeEdits, type LabelledService, portsOf, type ServiceLabel } from './compose-labels.ts'

/** Converts the labels of kompose on a service into keys of Compose and devctl. */
export function convertKompose(service: LabelledService, model: MapTree, edits: ComposeEdits): undefined {
  const labels = service.labels.filter(({ name }) => name.startsWith('kompose.'))
  const labelValue = (name: string) => labels.find(label => label.name === `kompose.${name}`)?.value
  for (const label of labels) convertLabel(label, { service, model, edits, labelValue })
}

interface Conversion {
  readonly service: LabelledService
  readonly model: MapTree
  readonly edits: ComposeEdits
  /**
   * Returns the value of a label of the service; `name` is the name of the label without `kompose.`. Undefined if the
   * service does not have the label.
   */
  readonly labelValue: (name: string) => string | undefined
}

const HEALTH = 'service.healthcheck.'
const HPA = 'hpa.'
/** Keys of `x-autoscale`, by the names of kompose's labels for an autoscaler. */
const AUTOSCALE: Readonly<Record<string, string>> = {
  'replicas.min': 'min',
  'replicas.max': 'max',
  cpu: 'cpu',
  memory: 'memory',
}
/** Labels that have an effect only together with another label. They are read when the other label is converted. */
const READ_BY_OTHERS = new Set([
  'service.expose.tls-secret',
  'service.nodeport.port',
  `${HEALTH}liveness.http_get_port`,
  `${HEALTH}readiness.http_get_port`,
])

function convertLabel(label: ServiceLabel, conversion: Conversion): undefined {
  const { service, edits } = conversion
  const { value } = label
  const name = label.name.slice('kompose.'.length)
  const at = ['services', service.name]
  if (READ_BY_OTHERS.has(name)) return reportAlone(label, name, conversion)
  if (name.startsWith(HPA)) return convertAutoscaler(label, name.slice(HPA.length), conversion)
  if (name.startsWith(HEALTH)) return convertHealth(label, name.slice(HEALTH.length), conversion)
  switch (name) {
    case 'service.type':
      return convertType(label, conversion)
    case 'service.expose':
      return convertExpose(label, conversion)
    case 'volume.size':
      return convertVolume(label, 'size', conversion)
    case 'volume.storage-class-name':
      return convertVolume(label, 'class', conversion)
    case 'controller.type':
      return convertController(label, conversion)
    case 'image-pull-policy':
      return convertPullPolicy(label, conversion)
    case 'security-context.fsgroup':
      if (!get(service.tree, 'group_add')) edits.replace({ path: [...at, 'group_add'], item: value })
      else if (!scalars(service.tree, 'group_add').some(one => String(one.value) === value))
        edits.lose(label, 'the service has `group_add`', 'add the group there')
      return
    case 'service.name_override':
      if (get(service.tree, 'network_mode'))
        edits.lose(label, 'a service with `network_mode` has no aliases', 'rename the service')
      else if (!get(service.tree, 'networks'))
        edits.replace({ path: [...at, 'networks', 'default', 'aliases'], item: value })
      else if (!hasAlias(service.tree, value))
        edits.lose(label, 'the service has `networks` of its own', `add the alias \`${value}\` to one of them`)
      return
    case 'service.external-traffic-policy':
      return edits.lose(label, 'devctl does not set this field', 'leave it out, or patch the Service')
    default:
      return edits.lose(label, reasonFor(name), hintFor(label, service.name))
  }
}

/**
 * Converts a label of an autoscaler into a key of `x-autoscale`. Reports the label instead if the labels set no maximum
 * or no target, if the service has no requests, or for a DaemonSet.
 */
function convertAutoscaler(label: ServiceLabel, name: string, { service, edits, labelValue }: Conversion): undefined {
  if (labelValue('controller.type')?.toLowerCase() === 'daemonset')
    return edits.lose(label, 'a DaemonSet has one Pod on each node, which no autoscaler changes')
  const key = AUTOSCALE[name]
  const targets = ['cpu', 'memory'].filter(one => labelValue(HPA + one) !== undefined)
  const limits = ['limits', 'reservations'].map(kind => get(service.tree, 'deploy', 'resources', kind))
  const isRequested = targets.every(one => limits.some(tree => get(tree, one === 'cpu' ? 'cpus' : one)))
  if (key === undefined || labelValue('hpa.replicas.max') === undefined || targets.length === 0 || !isRequested)
    return edits.lose(
      label,
      'an autoscaler needs a maximum, a target, and requests of the service',
      'write `x-autoscale: {min: 1, max: 10, cpu: 70%}` and `deploy.resources.reservations`',
    )
  const value = /^\d+$/.test(label.value) ? Number(label.value) : label.value
  return edits.set(label, ['services', service.name, 'x-autoscale', key], value)
}

function convertPullPolicy(label: ServiceLabel, { service, edits }: Conversion): undefined {
  const policy = POLICIES[label.value.toLowerCase()]
  if (policy === undefined) return edits.lose(label, 'Compose has other names for the values', 'set `pull_policy`')
  return edits.set(label, ['services', service.name, 'pull_policy'], policy)
}

const POLICIES: Readonly<Record<string, string>> = { always: 'always', never: 'never', ifnotpresent: 'missing' }

function reasonFor(name: string): string {
  if (name.startsWith('cronjob.')) return 'a container that runs on a schedule is a job, not a service'
  return 'it has no equivalent that could be written for you'
}

function hintFor(label: ServiceLabel, service: string): string | undefined {
  const equivalent = equivalentOf({ ...label, service })
  return equivalent === undefined || /^(?:leave|nothing) /.test(equivalent) ? equivalent : `use ${equivalent}`
}

/**
 * Reports a label that is only read together with another label, if the other label is missing or has no suitable
 * value.
 */
function reportAlone(label: ServiceLabel, name: string, { service, edits, labelValue }: Conversion): undefined {
  const [other, isRead] =
    name === 'service.expose.tls-secret'
      ? ['service.expose', !/^(?:true|)$/i.test(labelValue('service.expose') ?? '')]
      : name === 'service.nodeport.port'
        ? ['service.type', labelValue('service.type')?.toLowerCase() === 'nodeport']
        : [name.replace('_port', '_path'), labelValue(name.replace('_port', '_path')) !== undefined]
  if (isRead && name === 'service.nodeport.port' && nodePortOf(service, label.value) === undefined)
    return edits.lose(label, 'it is not one number for one port', 'write `nodePort` in `x-expose` of the port')
  if (isRead) return
  edits.lose(
    label,
    `it depends on \`kompose.${other}\``,
    name === 'service.expose.tls-secret' ? 'write `tlsSecret` of the environment in devctl.yml' : undefined,
  )
}

function convertType(label: ServiceLabel, { service, edits, labelValue }: Conversion): undefined {
  const at = ['services', service.name]
  const type = { nodeport: 'NodePort', loadbalancer: 'LoadBalancer' }[label.value.toLowerCase()]
  if (label.value.toLowerCase() === 'headless') return edits.set(label, [...at, 'deploy', 'endpoint_mode'], 'dnsrr')
  if (type === undefined) {
    if (!/^(?:clusterip|)$/i.test(label.value)) edits.lose(label, `\`${label.value}\` is not a type of a Service`)
    return
  }
  const ports = portsOf(service.tree).filter(({ index }) => index !== undefined)
  if (ports.length === 0) return edits.lose(label, 'the service has no `ports`', 'add the port under `ports`')
  const nodePort = type === 'NodePort' ? nodePortOf(service, labelValue('service.nodeport.port')) : undefined
  const expose: YamlValue = nodePort === undefined ? { type } : { type, nodePort }
  for (const { index, target, published, protocol, hostIp, isLong, hasExpose } of ports) {
    if (hasExpose) continue
    const path = [...at, 'ports', index!]
    if (isLong) edits.replace({ path: [...path, 'x-expose'], value: expose })
    else if (target === undefined)
      edits.lose(label, 'a port is a range or a variable', `write its long form, with \`x-expose: {type: ${type}}\``)
    else
      edits.replace({
        path,
        value: {
          target,
          ...(published !== undefined && { published }),
          ...(protocol !== undefined && { protocol }),
          ...(hostIp !== undefined && { host_ip: hostIp }),
          'x-expose': expose,
        },
      })
  }
}

/**
 * Returns the node port in a label as a number. Undefined if the value is not a number (for example a variable), or if
 * the service does not have exactly one port that can be converted.
 */
function nodePortOf({ tree }: LabelledService, value: string | undefined): number | undefined {
  const [port, ...others] = portsOf(tree).filter(({ index }) => index !== undefined)
  const isOne =
    port !== undefined && others.length === 0 && !port.hasExpose && (port.isLong || port.target !== undefined)
  return isOne && value !== undefined && /^\d+$/.test(value) ? Number(value) : undefined
}

function convertExpose(label: ServiceLabel, { service, edits, labelValue }: Conversion): undefined {
  const ports = portsOf(service.tree)
  const port = ports.find(({ target }) => target !== undefined)?.target
  const isAny = /^(?:true|)$/i.test(label.value)
  // A published port is already public.
  if (isAny && ports.some(({ published, hostIp }) => published !== undefined && hostIp === undefined)) return
  if (/^false$/i.test(label.value)) return
  if (port === undefined)
    return edits.lose(label, 'the service has no port', 'add it under `ports`, and a rule under `endpoints`')
  if (isAny) return edits.addRule(service.name, { path: '/', port })
  for (const address of label.value.split(',').map(one => one.trim())) {
    const slash = address.indexOf('/')
    const host = slash < 0 ? address : address.slice(0, slash)
    const secret = labelValue('service.expose.tls-secret')
    edits.addRule(service.name, { path: slash < 0 ? '/' : address.slice(slash), port, host, secret })
  }
}

/** Sets an option of all named volumes that a service mounts. Reports the label if there are none. */
function convertVolume(
  label: ServiceLabel,
  option: 'size' | 'class',
  { service, model, edits }: Conversion,
): undefined {
  const mounts = get(service.tree, 'volumes')
  const names = (mounts?.kind === 'seq' ? mounts.items : []).flatMap(mount => {
    const source = isScalar(mount) ? scalarText(mount).split(':')[0] : get(mount, 'source')
    const name = typeof source === 'string' ? source : isScalar(source) ? scalarText(source) : ''
    return /^[A-Za-z0-9][\w.-]*$/.test(name) ? [name] : []
  })
  const named = names.filter(name => get(model, 'volumes')?.kind === 'map' && get(model, 'volumes', name))
  if (named.length === 0)
    return edits.lose(
      label,
      'the service mounts no named volume',
      `name the volume under the top-level \`volumes\`, with \`driver_opts: {${option}: ${label.value}}\``,
    )
  for (const name of named)
    if (isExternal(model, name))
      edits.lose(
        label,
        `the volume \`${name}\` is external`,
        `set its ${OPTION_NAMES[option]} where the volume is created`,
      )
    else edits.set(label, ['volumes', name, 'driver_opts', option], label.value)
}

const OPTION_NAMES = { size: 'size', class: 'storage class' }

/** Returns true if a volume is external, or if a variable decides this. */
function isExternal(model: MapTree, volume: string): boolean {
  const external = get(model, 'volumes', volume, 'external')
  return external !== undefined && !(isScalar(external) && (external.value === false || external.value === null))
}

function convertController(label: ServiceLabel, { service, edits }: Conversion): undefined {
  const hasVolumes = get(service.tree, 'volumes') !== undefined
  switch (label.value.toLowerCase()) {
    case 'daemonset':
      return edits.set(label, ['services', service.name, 'deploy', 'mode'], 'global')
    case 'statefulset':
      if (!hasVolumes)
        edits.lose(label, 'a service without volumes is a Deployment', 'add a volume, which makes it a StatefulSet')
      return
    case 'deployment':
      if (hasVolumes)
        edits.lose(label, 'a service with named volumes is a StatefulSet', 'compare the result: `devctl render`')
      return
    default:
      return edits.lose(label, `devctl writes no \`${label.value}\``)
  }
}

function convertHealth(label: ServiceLabel, name: string, { service, edits, labelValue }: Conversion): undefined {
  const at = ['services', service.name, 'healthcheck']
  const [probe = '', field = ''] = [name.slice(0, name.indexOf('.')), name.slice(name.indexOf('.') + 1)]
  const isLiveness = probe === 'liveness'
  if (isLiveness && field !== 'http_get_path') {
    const both = 'devctl has one healthcheck for both probes'
    return edits.lose(label, both, 'write it under `healthcheck`, with `x-platform-liveness: true`')
  }
  switch (field) {
    case 'test':
      return setTest(label, at, { service, edits })
    case 'interval':
    case 'timeout':
    case 'start_period':
      return edits.set(label, [...at, field], label.value)
    case 'retries':
      return edits.set(label, [...at, 'retries'], label.value.includes('$') ? label.value : Number(label.value))
    case 'disable':
      if (/^true$/i.test(label.value)) edits.set(label, [...at, 'x-platform-readiness'], false)
      else if (label.value.includes('$'))
        edits.lose(label, 'its value is a variable', 'set `x-platform-readiness` under `healthcheck`')
      return
    case 'http_get_path': {
      const port = Number(labelValue(`${HEALTH}${probe}.http_get_port`) ?? firstPort(service))
      if (get(service.tree, 'healthcheck', 'test'))
        return edits.lose(label, 'the healthcheck has a `test`, and only one of the two is possible')
      if (!Number.isInteger(port))
        return edits.lose(
          label,
          'its port is not known',
          `write \`healthcheck: {http: {path: ${label.value}, port: …}}\``,
        )
      edits.set(label, [...at, 'http', 'path'], label.value)
      edits.set(label, [...at, 'http', 'port'], port)
      if (isLiveness) {
        edits.set(label, [...at, 'x-platform-liveness'], true)
        if (
          labelValue(`${HEALTH}readiness.http_get_path`) === undefined &&
          labelValue(`${HEALTH}readiness.test`) === undefined
        )
          edits.set(label, [...at, 'x-platform-readiness'], false)
      }
      return
    }
    case 'tcp_port':
      return edits.lose(label, 'devctl checks no bare port', 'write `test` or `http` under `healthcheck`')
    default:
      return edits.lose(label, 'kompose has no such label')
  }
}

const firstPort = ({ tree }: LabelledService): number | undefined =>
  portsOf(tree).find(({ target }) => target !== undefined)?.target

function setTest(
  label: ServiceLabel,
  at: readonly string[],
  { service, edits }: Pick<Conversion, 'service' | 'edits'>,
): undefined {
  const [, form = '', rest = ''] = /^(CMD-SHELL|CMD|NONE)?\s*([\s\S]*)$/.exec(label.value.trim()) ?? []
  const there = get(service.tree, 'healthcheck', 'test')
  if (there) {
    const text = isScalar(there) ? scalarText(there) : ''
    if (text !== rest) edits.lose(label, 'the service has a `healthcheck.test`, and there is one for both probes')
  } else if (form === 'NONE') edits.set(label, [...at, 'disable'], true)
  // A shell splits a text into words as kompose does.
  else edits.set(label, [...at, 'test'], rest)
}

const hasAlias = (service: MapTree, alias: string): boolean =>
  [...entries(service, 'networks').values()].some(({ value }) =>
    scalars(value, 'aliases').some(one => String(one.value) === alias),
  )
