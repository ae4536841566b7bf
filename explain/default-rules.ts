import { shapeAt } from '../compiler/compose/keys/lookup.ts'
import { formatPath, type ModelPath } from '../compiler/schema/model-path.ts'
import type { MapTree } from '../compiler/text/tree.ts'
import { isSourceOf, type ShownObject } from './influences.ts'
import { type KeyRule, ruleForField } from './key-rule.ts'
import type { Leaf } from './leaves.ts'
import { childrenOf, isWorkload, nodeAt } from './model-node.ts'

/** Reason for a value that is not set by any line of the Compose files. */
export interface DefaultRule {
  readonly text: string
  /** Key of the model that changes the value, such as `services.web.stop_grace_period`; absent if no key is known. */
  readonly set?: string
  /** Rule of the key. */
  readonly rule?: KeyRule
}

interface Place {
  readonly object: ShownObject
  /** Service or job that the object belongs to; undefined if there is none. */
  readonly owner: string | undefined
  /** Path of the closest node of the model that the value depends on; undefined if there is none. */
  readonly within: ModelPath | undefined
  readonly model: MapTree
}

/** Returns the rule that determines a value that is not set by any line; undefined if no rule is found. */
export function defaultRule(leaf: Leaf, place: Place): DefaultRule | undefined {
  return structural(leaf, place) ?? fromRow(leaf, place)
}

function structural({ path, value }: Leaf, { object, owner, within, model }: Place): DefaultRule | undefined {
  const { kind } = object.manifest.object
  const found = STRUCTURE.find(
    one => (!one.kinds || one.kinds.includes(kind)) && one.path.test(path) && !(one.isLast && within),
  )
  if (!found) return undefined
  const { text, set } = found
  return {
    text: typeof text === 'string' ? text : text({ owner: owner ?? 'the application', value: String(value) }),
    ...(set !== undefined && owner !== undefined && { set: `${sectionOf(model, owner)}.${owner}.${set}` }),
  }
}

/** Defaults of Kubernetes for fields that devctl always writes. */
const KUBERNETES: Readonly<Record<string, unknown>> = {
  terminationGracePeriodSeconds: 30,
  timeoutSeconds: 1,
  periodSeconds: 10,
  failureThreshold: 3,
  automountServiceAccountToken: true,
  enableServiceLinks: true,
}

function fromRow({ keys, value }: Leaf, { object, owner, within, model }: Place): DefaultRule | undefined {
  const fields = keys.filter(key => typeof key === 'string')
  const around = volumeOf(object, model) ?? within
  const section = sectionOf(model, owner)
  const rule = (around && ruleAround(fields, around)) ?? ruleForField(fields, [section, '*'])
  const set = rule && keyToSet(rule, around ?? [section, owner ?? '*'])
  // If a line sets the key, it is not a default.
  if (!rule || !set || nodeAt(model, set)) return undefined
  const field = fields.at(-1)!
  const kubernetes = KUBERNETES[field]
  const [, said] = /\bdefault:? ([^;.]+)/i.exec(rule.note ?? '') ?? []
  const base = said?.includes('as in Compose')
    ? "Compose's own default"
    : said === undefined
      ? "devctl's default"
      : `the default is ${said}`
  const differs = kubernetes !== undefined && kubernetes !== value
  return {
    text: `no line says so: ${base}${differs ? ` (Kubernetes would take ${kubernetes})` : ''}`,
    ...(set[1] !== '*' && { set: formatPath(set) }),
    rule,
  }
}

/** Returns the path of the volume that an object is a claim for; undefined for other objects. */
function volumeOf(object: ShownObject, model: MapTree): ModelPath | undefined {
  const volumes = nodeAt(model, ['volumes'])
  return volumes && childrenOf(volumes).find(({ path }) => isSourceOf(formatPath(path), object))?.path
}

/** Returns the section of the model that contains the owner, a service or a job. */
const sectionOf = (model: MapTree, owner: string | undefined): 'services' | 'jobs' =>
  owner !== undefined && nodeAt(model, ['jobs', owner]) ? 'jobs' : 'services'

/**
 * Returns the path of the key that a rule is about, with the names and indices of `around` instead of `*` and `[]`.
 * Undefined if there is no such key, such as a key of services that jobs do not have.
 */
function keyToSet({ path }: KeyRule, around: ModelPath): ModelPath | undefined {
  const steps = path.map((step, index) => (step === '*' || step === '[]' ? around[index] : step))
  if (around[0] === 'jobs') steps[0] = 'jobs'
  const isKey = steps.every(step => step !== undefined) && shapeAt(steps.map(String)) !== undefined
  return isKey ? steps : undefined
}

/**
 * Returns the rule for a field from the keys at or below a path. If no key there sets the field, tries the parents of
 * the path, the closest first. Undefined if no rule is found.
 */
function ruleAround(fields: readonly string[], path: ModelPath): KeyRule | undefined {
  for (let length = path.length; length > (isWorkload(path) ? 2 : 1); length--) {
    const found = ruleForField(fields, path.slice(0, length))
    if (found) return found
  }
  return undefined
}

interface Structure {
  readonly path: RegExp
  readonly kinds?: readonly string[]
  readonly text: string | ((of: { readonly owner: string; readonly value: string }) => string)
  /** Key of the service that changes the value. */
  readonly set?: string
  /** True if the text is only used for values that depend on no line, because any line would explain them better. */
  readonly isLast?: true
}

const OF_SERVICE = /^(metadata|spec\.template\.metadata)\.labels\[(app\.kubernetes\.io\/name|dev\.platform\/service)\]$/

/** Fields that every object of a kind has, or that follow from its other fields. The first match is used. */
const STRUCTURE: readonly Structure[] = [
  { path: /^apiVersion$/, text: 'the version of the kind that every supported cluster has' },
  {
    path: /^kind$/,
    kinds: ['Deployment'],
    text: 'a service that runs without an end and keeps no data is a Deployment',
    set: 'restart',
  },
  { path: /^kind$/, text: ({ value }) => `this part of the application is a ${value}` },
  { path: /^(metadata|subjects\[[^\]]*\]|roleRef)\.name$/, text: ({ owner }) => `named after \`${owner}\`` },
  { path: /^spec\.template\.spec\.containers\[[^\]]*\]\.name$/, text: 'the container is named after its service' },
  { path: OF_SERVICE, text: ({ owner }) => `standard label: the service \`${owner}\`` },
  { path: /labels\[.*\/managed-by\]$/, text: 'standard label: devctl writes the object' },
  { path: /labels\[.*\]$/i, text: 'standard label of devctl' },
  { path: /^spec\.selector\[|[sS]elector\.matchLabels\[/, text: 'selects Pods by their standard labels' },
  {
    path: /automountServiceAccountToken$/,
    text: 'a container of Compose has no access to the API server, so its Pod gets no token',
  },
  {
    path: /enableServiceLinks$/,
    text: 'Compose sets no variables for other services, so the Pod gets none (Kubernetes would add them)',
  },
  {
    path: /seccompProfile\.type$/,
    text: 'Compose runs containers with the seccomp profile of the runtime (Kubernetes would use none)',
    set: 'security_opt',
    isLast: true,
  },
  {
    path: /serviceAccountName$/,
    text: 'the account of the namespace, without a token, written out so that no earlier one remains',
  },
  {
    path: /^spec\.clusterIP$/,
    text: 'a Service without known ports is headless: its name leads to the Pods, at any port',
    set: 'expose',
  },
  {
    path: /^spec\.accessModes\[/,
    text: 'the default is `ReadWriteOnce`: Pods on one node; set `driver_opts.access` of the volume',
  },
  {
    path: /^spec\.ports\[|\.containers\[[^\]]*\]\.ports\[/,
    text: 'a port that the image exposes, a healthcheck checks, or other services name: several of them do',
    set: 'expose',
    isLast: true,
  },
  { path: /\.paths\[[^\]]*\]\.pathType$/, text: 'a route leads to its path and all paths below it' },
  { path: /\.paths\[[^\]]*\]\.path$/, text: 'a route without a path leads to all paths' },
  { path: /\.backend\.service\.name$/, text: 'the Service to which the route leads' },
  { path: /^spec\.policyTypes\[/, text: 'the directions that the policy restricts' },
]
