import { entries, items, scalar } from '../compose/read/tree-values.ts'
import { Reporter } from '../diagnostics/reporter.ts'
import type { ModelPath } from '../schema/model-path.ts'
import { type Entry, entry, get, isScalar, mapTree, type Tree } from '../text/tree.ts'
import { parseQuantity } from '../values/numbers/quantity.ts'
import { present } from './build.ts'
import { checkDevelopment } from './dev-rules.ts'
import type {
  Development,
  DevelopmentContainer,
  DevelopmentHook,
  DevelopmentSecurity,
  PersistentVolume,
} from './development.ts'
import { Distinct } from './duplicates.ts'
import { readForwards } from './forward.ts'
import { readName } from './names.ts'
import { readExternalVolumes, readReverse, readSecrets, readSync, readVolumes } from './short-forms.ts'
import {
  known,
  NUMERIC,
  parseScalar,
  type Reading,
  readFlag,
  readInteger,
  readPairs,
  readTimeout,
  texts,
} from './values.ts'

/** Reads `dev`: development containers by name. Checks the rules that involve several of their keys. */
export function readDevelopment(tree: Tree | undefined, reading: Reading): ReadonlyMap<string, Development> {
  const found = new Map<string, Development>()
  const distinct = new Distinct(reading.reporter)
  for (const [key, at] of entries(tree)) {
    const own = get(at.value, 'name')
    const written = known(at.value, 'name')?.value ?? key
    const name = readName(written, isScalar(own) ? own.span : at.key, 'the development container', distinct, reading)
    if (name === undefined) continue
    const path = ['dev', key]
    const container = readOne(name, at, path, reading)
    checkDevelopment(container, at, { path, reading })
    found.set(key, container)
  }
  return found
}

/** Returns the development container that `dev: {NAME: {}}` declares: all keys have their defaults. */
export function plainDevelopment(name: string, span: DevelopmentContainer['span']): Development {
  const reading: Reading = { reporter: new Reporter(), lookup: () => undefined, folder: '' }
  return readOne(name, { key: span, value: mapTree(span, []) }, [], reading)
}

function readOne(name: string, { key: span, value }: Entry, path: ModelPath, reading: Reading): Development {
  const at = (field: string): ModelPath => [...path, field]
  const flag = (field: string) => readFlag(get(value, field), at(field), reading)?.value
  const integer = (field: string) => readInteger(get(value, field), at(field), reading)
  const remote = integer('remote')
  return {
    ...readContainer(name, span, value, path, reading),
    mode: known(value, 'mode')?.value === 'hybrid' ? 'hybrid' : 'sync',
    autocreate: flag('autocreate') ?? false,
    volumes: readVolumes(get(value, 'volumes'), at('volumes'), reading),
    externalVolumes: readExternalVolumes(get(value, 'externalVolumes'), at('externalVolumes'), reading),
    secrets: readSecrets(get(value, 'secrets'), at('secrets'), reading),
    forward: readForwards(get(value, 'forward'), { path: at('forward'), toContainer: true }, reading),
    reverse: readReverse(get(value, 'reverse'), at('reverse'), reading),
    ...(remote && remote.value > 0 && { remote }),
    sshServerPort: integer('sshServerPort')?.value ?? 2222,
    interface: known(value, 'interface')?.value ?? 'localhost',
    persistentVolume: readPersistentVolume(get(value, 'persistentVolume'), at('persistentVolume'), reading),
    securityContext: readSecurityContext(get(value, 'securityContext'), at('securityContext'), reading),
    ...present({
      serviceAccount: known(value, 'serviceAccount'),
      priorityClassName: known(value, 'priorityClassName'),
    }),
    probes: readProbes(get(value, 'probes'), at('probes'), reading),
    lifecycle: readLifecycle(get(value, 'lifecycle'), at('lifecycle'), reading),
    initContainer: readInitContainer(get(value, 'initContainer'), at('initContainer'), reading),
    timeout: readTimeouts(get(value, 'timeout'), at('timeout'), reading),
    services: items(value, 'services').map((service, index) =>
      readContainer(known(service, 'name')?.value ?? name, service.span, service, [...at('services'), index], reading),
    ),
  }
}

function readContainer(
  name: string,
  span: DevelopmentContainer['span'],
  tree: Tree,
  path: ModelPath,
  reading: Reading,
): DevelopmentContainer {
  const at = (field: string): ModelPath => [...path, field]
  const command = readCommand(get(tree, 'command'))
  const args = readCommand(get(tree, 'args'))
  const sync = get(tree, 'sync')
  const replicas = readInteger(get(tree, 'replicas'), at('replicas'), reading)
  const nodeSelector = get(tree, 'nodeSelector')
  const tolerations = get(tree, 'tolerations')
  const affinity = get(tree, 'affinity')
  const policy = known(tree, 'imagePullPolicy')?.value
  return {
    name,
    span,
    ...present({ image: known(tree, 'image'), workdir: known(tree, 'workdir'), container: known(tree, 'container') }),
    ...(command && { command }),
    ...(args && { args }),
    selector: readPairs(get(tree, 'selector'), reading),
    environment: readPairs(get(tree, 'environment'), reading),
    envFiles: texts(get(tree, 'envFiles')),
    ...(sync && { sync: readSync(sync, at('sync'), reading) }),
    ...(replicas && { replicas }),
    resources: readResources(get(tree, 'resources'), at('resources'), reading),
    labels: readPairs(get(tree, 'metadata') && get(tree, 'metadata', 'labels'), reading),
    annotations: readPairs(get(tree, 'metadata') && get(tree, 'metadata', 'annotations'), reading),
    ...(nodeSelector && { nodeSelector: readPairs(nodeSelector, reading) }),
    ...(tolerations && { tolerations }),
    ...(affinity && { affinity }),
    imagePullPolicy: policy === 'IfNotPresent' || policy === 'Never' ? policy : 'Always',
  }
}

/** Reads a command. Text of several words or lines is run by a shell; a single word and lists are run directly. */
function readCommand(tree: Tree | undefined): readonly string[] | undefined {
  if (tree?.kind === 'seq') return tree.items.filter(isScalar).map(({ value }) => String(value))
  const text = scalar(tree)
  const command = String(text?.value ?? '').trim()
  if (command === '') return undefined
  return /\s/.test(command) ? ['sh', '-c', command] : [command]
}

function readResources(tree: Tree | undefined, path: ModelPath, reading: Reading): DevelopmentContainer['resources'] {
  const read = (part: string) =>
    [...entries(tree, part)].flatMap(([name, { key, value }]) => {
      const at = [...path, part, name]
      const quantity = parseScalar(value, at, parseQuantity, reading, NUMERIC)
      return quantity ? [{ name, value: quantity.value.canonical, span: quantity.span, key }] : []
    })
  return { requests: read('requests'), limits: read('limits') }
}

function readPersistentVolume(tree: Tree | undefined, path: ModelPath, reading: Reading): PersistentVolume {
  const size = parseScalar(get(tree, 'size'), [...path, 'size'], parseQuantity, reading, NUMERIC)
  const storageClass = known(tree, 'storageClass')
  return {
    enabled: readFlag(get(tree, 'enabled'), [...path, 'enabled'], reading)?.value ?? true,
    size: size?.value.canonical ?? '5Gi',
    ...(storageClass && { storageClass }),
    accessMode: known(tree, 'accessMode')?.value ?? 'ReadWriteOnce',
    volumeMode: known(tree, 'volumeMode')?.value ?? 'Filesystem',
    labels: readPairs(get(tree, 'labels'), reading),
    annotations: readPairs(get(tree, 'annotations'), reading),
  }
}

function readSecurityContext(tree: Tree | undefined, path: ModelPath, reading: Reading): DevelopmentSecurity {
  const integer = (field: string) => {
    const value = readInteger(get(tree, field), [...path, field], reading)
    return value && { [field]: value }
  }
  const flag = (field: string) => {
    const value = readFlag(get(tree, field), [...path, field], reading)
    return value && { [field]: value }
  }
  const words = (field: string) => texts(get(tree, 'capabilities') && get(tree, 'capabilities', field))
  return {
    ...integer('runAsUser'),
    ...integer('runAsGroup'),
    ...integer('fsGroup'),
    ...flag('runAsNonRoot'),
    ...flag('allowPrivilegeEscalation'),
    ...flag('readOnlyRootFilesystem'),
    capabilities: {
      add: words('add').map(({ value }) => value),
      drop: words('drop').map(({ value }) => value),
    },
  }
}

/** Reads `probes`: one switch for all probes, or a switch for each probe. */
function readProbes(tree: Tree | undefined, path: ModelPath, reading: Reading): Development['probes'] {
  const all = readFlag(tree, path, reading)?.value ?? false
  const one = (field: string) => readFlag(get(tree, field), [...path, field], reading)?.value ?? all
  return { liveness: one('liveness'), readiness: one('readiness'), startup: one('startup') }
}

function readLifecycle(tree: Tree | undefined, path: ModelPath, reading: Reading): Development['lifecycle'] {
  const all = readFlag(tree, path, reading)?.value ?? false
  const one = (field: string): DevelopmentHook => {
    const found = entry(tree, field)?.value
    const at = [...path, field]
    if (!found) return { enabled: all }
    if (found.kind === 'scalar') return { enabled: readFlag(found, at, reading)?.value ?? all }
    const command = readCommand(get(found, 'command'))
    const enabled = readFlag(get(found, 'enabled'), [...at, 'enabled'], reading)?.value
    return { enabled: enabled ?? command !== undefined, ...(command && { command }) }
  }
  return { postStart: one('postStart'), preStop: one('preStop') }
}

function readInitContainer(tree: Tree | undefined, path: ModelPath, reading: Reading): Development['initContainer'] {
  return {
    ...present({ image: known(tree, 'image') }),
    resources: readResources(get(tree, 'resources'), [...path, 'resources'], reading),
  }
}

/** Default timeouts in milliseconds: for a step (`STEP`), and for waiting for resources (`RESOURCES`). */
const STEP = 60_000
const RESOURCES = 120_000

function readTimeouts(tree: Tree | undefined, path: ModelPath, reading: Reading): Development['timeout'] {
  const one = (field: string) => readTimeout(get(tree, field), [...path, field], reading)?.value
  return {
    step: readTimeout(tree, path, reading)?.value ?? one('default') ?? STEP,
    resources: one('resources') ?? RESOURCES,
  }
}
