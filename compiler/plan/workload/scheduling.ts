import type { Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { At } from '../../text/source.ts'
import { isLabelKey, isLabelValue } from '../../values/annotation.ts'
import { isDnsSubdomain } from '../../values/dns-name.ts'
import type { PlanContext } from '../context.ts'
import type { NodeRequirement, PodPlan } from '../plan.ts'

const contradiction = diagnostic({
  code: 'scheduling/contradiction',
  severity: 'error',
  explain:
    'The Pod requires two different values for one node label, so it fits on no node. `platform`, `x-node-selector` and placement constraints must all match, and so must those of services that share a Pod.',
  text: (p: { label: string; wanted: NodeRequirement; other: NodeRequirement }) => ({
    message: `the node label \`${p.label}\` must be both ${wording(p.other)} and ${wording(p.wanted)}`,
    hint: 'remove one of the two',
  }),
})

/** Returns the words of a message for the values that a requirement allows. */
function wording({ operator, values = [] }: NodeRequirement): string {
  switch (operator) {
    case 'In':
      return `\`${values[0]}\``
    case 'NotIn':
      return `other than \`${values[0]}\``
    case 'Exists':
      return 'present'
    case 'DoesNotExist':
      return 'absent'
  }
}

const unknownPlatform = diagnostic({
  code: 'scheduling/unknown-platform',
  severity: 'error',
  explain:
    '`platform` is `OS/ARCHITECTURE`, for example `linux/amd64` or `linux/arm64/v8`. Kubernetes nodes run Linux or Windows.',
  text: (p: { platform: string }) => ({
    message: `\`${p.platform}\` is not a valid node platform`,
    hint: 'write `linux/amd64` or `linux/arm64`',
  }),
})

const noRuntime = diagnostic({
  code: 'scheduling/platform-without-runtime',
  severity: 'error',
  explain: `\`wasi/wasm\` is not a node platform: WebAssembly runs on any node whose container runtime has a shim for it. \`runtime\` selects the shim with a RuntimeClass of the cluster.

\`\`\`yaml
platform: wasi/wasm
runtime: wasmtime    # runtimeClassName of the Pod
\`\`\``,
  text: (p: { platform: string }) => ({
    message: `\`${p.platform}\` needs a \`runtime\``,
    hint: 'add `runtime:` with the name of a RuntimeClass of the cluster',
  }),
})

const variant = diagnostic({
  code: 'scheduling/platform-variant',
  severity: 'warning',
  loss: true,
  explain:
    'Nodes have labels for their operating system and architecture, but not for the variant of the architecture. The variant is left out.',
  text: (p: { variant: string; platform: string }) => ({
    message: `the variant \`${p.variant}\` of \`${p.platform}\` is left out: nodes have no label for it`,
  }),
})

const badConstraint = diagnostic({
  code: 'scheduling/bad-constraint',
  severity: 'error',
  explain: `A placement constraint compares a property of the node with a value. Supported are \`node.labels.KEY\`, \`engine.labels.KEY\`, \`node.hostname\`, \`node.role\`, \`node.id\`, \`node.platform.os\` and \`node.platform.arch\`.

\`\`\`yaml
constraints:
  - node.labels.disk == ssd
  - node.role != manager
\`\`\``,
  text: (p: { constraint: string }) => ({
    message: `\`${p.constraint}\` is not a supported placement constraint`,
    hint: 'write `node.labels.KEY == VALUE` or `node.role == worker`',
  }),
})

const perNode = diagnostic({
  code: 'scheduling/replicas-per-node',
  severity: 'warning',
  loss: true,
  explain:
    'Kubernetes can keep the Pods of a service on different nodes (`max_replicas_per_node: 1`), and it spreads them over the nodes by default. A higher limit has no equivalent and is left out.',
  text: (p: { count: number }) => ({
    message: `\`max_replicas_per_node: ${p.count}\` has no equivalent in Kubernetes; only 1 has`,
    hint: 'remove it, or write 1',
  }),
})

type Placement = Pick<PodPlan, 'nodeSelector' | 'nodeRequirements' | 'spreadOut' | 'topologyKeys'>

/** A requirement on a node label, with its position. */
interface NodeTerm extends At<NodeRequirement> {
  /** True for `x-node-selector` and `platform`, which become the `nodeSelector` of the Pod. */
  readonly isSelector?: true
}

/** Plans the nodes that a Pod may run on, from `platform`, `x-node-selector` and `deploy.placement` of its services. */
export function planScheduling(context: PlanContext, services: readonly Service[]): Placement {
  const terms = services.flatMap(service => nodeTerms(context, service))
  checkNodeTerms(context, terms)
  const selector = new Map(
    terms.flatMap(({ isSelector, value: { key, values } }) => (isSelector ? [[key, values?.[0] ?? ''] as const] : [])),
  )
  const requirements = terms.filter(({ isSelector }) => !isSelector).map(({ value }) => value)
  const most = services.flatMap(({ deploy }) => deploy.maxReplicasPerNode ?? [])
  for (const { value, span } of most) if (value > 1) context.reporter.report(perNode, span, { count: value })
  const topologyKeys = [
    ...new Set(services.flatMap(({ deploy }) => deploy.spread.flatMap(spread => topologyKey(context, spread) ?? []))),
  ]
  return {
    ...(selector.size > 0 && {
      nodeSelector: Object.fromEntries([...selector].sort(([a], [b]) => (a < b ? -1 : 1))),
    }),
    ...(requirements.length > 0 && { nodeRequirements: requirements }),
    ...(most.some(({ value }) => value === 1) && { spreadOut: true }),
    ...(topologyKeys.length > 0 && { topologyKeys }),
  }
}

/** Reports requirements that no node can meet together, each requirement once. */
export function checkNodeTerms({ reporter }: PlanContext, terms: readonly NodeTerm[]): void {
  for (const [index, { value: wanted, span }] of terms.entries()) {
    const known = terms.slice(0, index).find(({ value }) => contradicts(value, wanted) || contradicts(wanted, value))
    if (known)
      reporter.report(contradiction, span, { label: wanted.key, wanted, other: known.value }, [
        { span: known.span, message: `${wording(known.value)} is wanted here` },
      ])
  }
}

/** Returns true if no value of the label, and no node without it, meets both requirements. */
function contradicts(one: NodeRequirement, other: NodeRequirement): boolean {
  if (one.key !== other.key || one.field !== other.field) return false
  if (other.operator === 'DoesNotExist') return one.operator === 'In' || one.operator === 'Exists'
  if (one.operator !== 'In') return false
  const isSame = one.values?.[0] === other.values?.[0]
  return (other.operator === 'In' && !isSame) || (other.operator === 'NotIn' && isSame)
}

/** Returns what a service requires of its node: `x-node-selector`, `platform`, then placement constraints. */
export function nodeTerms(context: PlanContext, service: Service): readonly NodeTerm[] {
  const labels = [
    ...service.nodeSelector.map(({ name, value, span }) => ({ label: name, value, span })),
    ...(service.platform ? platformLabels(context, service.platform, service) : []),
  ]
  return [
    ...labels.map(({ label, value, span }) => ({
      value: { key: label, operator: 'In' as const, values: [value] },
      span,
      isSelector: true as const,
    })),
    ...service.deploy.constraints.flatMap(constraint => {
      const value = toRequirement(context, constraint)
      return value ? [{ value, span: constraint.span }] : []
    }),
  ]
}

/** True for WebAssembly platforms, which a RuntimeClass runs on nodes of any architecture. */
const isWebAssembly = (platform: string): boolean => /^(wasi|wasm)(\/|$)/.test(platform)

/** Maps alternative names of architectures to the names in Go, which Kubernetes uses as well. */
const architectures: ReadonlyMap<string, string> = new Map([
  ['x86_64', 'amd64'],
  ['x86-64', 'amd64'],
  ['aarch64', 'arm64'],
  ['armhf', 'arm'],
  ['armv7', 'arm'],
  ['armv7l', 'arm'],
  ['armel', 'arm'],
  ['i386', '386'],
  ['i686', '386'],
])
const knownArchitectures = new Set([
  'amd64',
  'arm64',
  'arm',
  '386',
  'ppc64le',
  's390x',
  'riscv64',
  'loong64',
  'mips64le',
])

function platformLabels({ reporter }: PlanContext, { value, span }: At<string>, { runtime }: Service) {
  const platform = value.toLowerCase()
  if (isWebAssembly(platform)) {
    if (!runtime) reporter.report(noRuntime, span, { platform: value })
    return []
  }
  const [first = '', second, third] = platform.split('/')
  const isOs = first === 'linux' || first === 'windows'
  const os = isOs ? first : undefined
  const written = isOs ? second : second === undefined ? first : undefined
  const architecture = written && (architectures.get(written) ?? written)
  if ((!isOs && !architecture) || (architecture && !knownArchitectures.has(architecture))) {
    reporter.report(unknownPlatform, span, { platform: value })
    return []
  }
  // Every 64-bit ARM is v8, so dropping this variant loses nothing.
  if (third && !(architecture === 'arm64' && third === 'v8'))
    reporter.report(variant, span, { variant: third, platform: value })
  return [
    ...(os ? [{ label: 'kubernetes.io/os', value: os, span }] : []),
    ...(architecture ? [{ label: 'kubernetes.io/arch', value: architecture, span }] : []),
  ]
}

function toRequirement({ reporter }: PlanContext, constraint: At<string>): NodeRequirement | undefined {
  const [, left = '', sign = '', right = ''] = /^\s*([^\s=!]+)\s*(==|!=|=)\s*(.*?)\s*$/.exec(constraint.value) ?? []
  const operator = sign === '!=' ? 'NotIn' : 'In'
  if (left === 'node.role' && (right === 'manager' || right === 'worker')) {
    const isManager = (right === 'manager') === (operator === 'In')
    return { key: 'node-role.kubernetes.io/control-plane', operator: isManager ? 'Exists' : 'DoesNotExist' }
  }
  if (left === 'node.id' && isDnsSubdomain(right))
    return { key: 'metadata.name', operator, values: [right], field: true }
  const key = nodeProperty(left)
  if (key && sign && isLabelKey(key) && isLabelValue(right))
    return { key, operator, values: [left === 'node.platform.arch' ? (architectures.get(right) ?? right) : right] }
  reporter.report(badConstraint, constraint.span, { constraint: constraint.value })
  return undefined
}

function nodeProperty(left: string): string | undefined {
  const label = /^(?:node|engine)\.labels\.(.+)$/.exec(left)?.[1]
  if (label !== undefined) return label
  switch (left) {
    case 'node.hostname':
      return 'kubernetes.io/hostname'
    case 'node.platform.os':
      return 'kubernetes.io/os'
    case 'node.platform.arch':
      return 'kubernetes.io/arch'
  }
  // The specification's own example is a plain label: `disktype=ssd`.
  return left !== '' && !left.startsWith('node.') && !left.startsWith('engine.') ? left : undefined
}

function topologyKey({ reporter }: PlanContext, { value, span }: At<string>): string | undefined {
  const label = value.replace(/^(node|engine)\.labels\./, '').trim()
  if (label === 'zone' || label === 'region') return `topology.kubernetes.io/${label}`
  if (label === 'node.hostname') return 'kubernetes.io/hostname'
  if (label === '' || isLabelKey(label)) return label || undefined
  reporter.report(badConstraint, span, { constraint: value })
  return undefined
}
