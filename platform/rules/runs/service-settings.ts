import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'

/** Maximum number of list entries, and maximum length of a text. */
const MOST = 200
const LONGEST = 1000

/** The settings of a service's container, without the values of its variables. */
export interface ServiceSettings {
  readonly image?: string
  readonly entrypoint?: string[]
  readonly command?: string[]
  readonly directory?: string
  readonly replicas?: number
  readonly ports: string[]
  readonly variables: { readonly name: string; readonly from?: string }[]
  readonly volumes: { readonly path: string; readonly from?: string; readonly isReadOnly?: boolean }[]
  readonly checks: { readonly kind: string; readonly does: string; readonly every: number; readonly failures: number }[]
  readonly resources: { readonly name: string; readonly request?: string; readonly limit?: string }[]
}

type Fields = Readonly<Record<string, unknown>>

/**
 * Returns the settings of a service's container, from its workload, without the values of variables. Never throws:
 * invalid fields are omitted, because tools other than devctl may have written the object.
 */
export function settingsOf(workload: KubeObject, service: string): ServiceSettings {
  const spec = fieldsOf(workload['spec'])
  const pod = fieldsOf(fieldsOf(spec['template'])['spec'])
  const sidecars = listOf(pod['initContainers']).filter(one => one['restartPolicy'] === 'Always')
  const all = [...listOf(pod['containers']), ...sidecars]
  const container = all.find(one => one['name'] === service) ?? all[0] ?? {}
  const { replicas } = spec
  const image = textOf(container['image'])
  const directory = textOf(container['workingDir'])
  const [entrypoint, command] = [textsOf(container['command']), textsOf(container['args'])]
  const checks = [
    ['startup', container['startupProbe']],
    ['readiness', container['readinessProbe']],
    ['liveness', container['livenessProbe']],
  ] as const
  return {
    ...(image !== undefined && { image }),
    ...(entrypoint.length > 0 && { entrypoint }),
    ...(command.length > 0 && { command }),
    ...(directory !== undefined && { directory }),
    ...(typeof replicas === 'number' && { replicas }),
    ports: first(listOf(container['ports']).flatMap(portOf)),
    variables: first([
      ...listOf(container['env']).flatMap(variableOf),
      ...listOf(container['envFrom']).flatMap(sourceOf),
    ]),
    volumes: first(volumesOf(container, pod)),
    checks: checks.flatMap(([kind, probe]) => checkOf(kind, fieldsOf(probe))),
    resources: resourcesOf(fieldsOf(container['resources'])),
  }
}

function portOf({ containerPort, protocol }: Fields): readonly string[] {
  if (typeof containerPort !== 'number') return []
  return [protocol === undefined || protocol === 'TCP' ? String(containerPort) : `${containerPort}/${lower(protocol)}`]
}

/**
 * Returns an entry with the name and the source of a variable, without its value. Returns an empty list if the variable
 * has no name.
 */
function variableOf({ name, valueFrom }: Fields): ServiceSettings['variables'] {
  const text = textOf(name)
  if (text === undefined) return []
  const { secretKeyRef, configMapKeyRef } = fieldsOf(valueFrom)
  const from = referenceTo('secret', secretKeyRef) ?? referenceTo('configmap', configMapKeyRef)
  return [{ name: text, ...(from !== undefined && { from }) }]
}

/**
 * Returns an entry for the variables that are created from all keys of a Secret or ConfigMap. The names of the keys are
 * unknown, because the Secret or ConfigMap is not read. Returns an empty list if neither is named.
 */
function sourceOf({ prefix, secretRef, configMapRef }: Fields): ServiceSettings['variables'] {
  const from = referenceTo('secret', secretRef) ?? referenceTo('configmap', configMapRef)
  return from === undefined ? [] : [{ name: `${textOf(prefix) ?? ''}*`, from }]
}

function referenceTo(kind: string, reference: unknown): string | undefined {
  const name = textOf(fieldsOf(reference)['name'])
  return name === undefined ? undefined : `${kind}/${name}`
}

function volumesOf(container: Fields, pod: Fields): ServiceSettings['volumes'] {
  const known = new Map(listOf(pod['volumes']).map(one => [one['name'], one]))
  return listOf(container['volumeMounts']).flatMap(({ mountPath, name, readOnly }) => {
    const path = textOf(mountPath)
    if (path === undefined) return []
    const from = volumeSource(known.get(name) ?? {})
    return [{ path, ...(from !== undefined && { from }), ...(readOnly === true && { isReadOnly: true }) }]
  })
}

function volumeSource(volume: Fields): string | undefined {
  const claim = textOf(fieldsOf(volume['persistentVolumeClaim'])['claimName'])
  if (claim !== undefined) return `persistentvolumeclaim/${claim}`
  const secret = textOf(fieldsOf(volume['secret'])['secretName'])
  if (secret !== undefined) return `secret/${secret}`
  const file = referenceTo('configmap', volume['configMap'])
  if (file !== undefined) return file
  return volume['emptyDir'] === undefined ? undefined : 'temporary; deleted with the Pod'
}

function checkOf(kind: string, probe: Fields): ServiceSettings['checks'] {
  const { exec, httpGet, tcpSocket, grpc, periodSeconds, failureThreshold } = probe
  const http = fieldsOf(httpGet)
  const does =
    exec !== undefined
      ? textsOf(fieldsOf(exec)['command']).join(' ')
      : httpGet !== undefined
        ? `GET ${textOf(http['path']) ?? '/'} on port ${textOf(http['port'])}`
        : tcpSocket !== undefined
          ? `TCP on port ${textOf(fieldsOf(tcpSocket)['port'])}`
          : grpc !== undefined
            ? `gRPC on port ${textOf(fieldsOf(grpc)['port'])}`
            : undefined
  if (does === undefined) return []
  return [
    {
      kind,
      does: short(does),
      // The default of Kubernetes.
      every: typeof periodSeconds === 'number' ? periodSeconds : 10,
      failures: typeof failureThreshold === 'number' ? failureThreshold : 3,
    },
  ]
}

function resourcesOf(resources: Fields): ServiceSettings['resources'] {
  const [requests, limits] = [fieldsOf(resources['requests']), fieldsOf(resources['limits'])]
  return first([...new Set([...Object.keys(requests), ...Object.keys(limits)])].sort()).map(name => {
    const [request, limit] = [textOf(requests[name]), textOf(limits[name])]
    return { name: short(name), ...(request !== undefined && { request }), ...(limit !== undefined && { limit }) }
  })
}

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {}) // read field by field
const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.map(fieldsOf) : [])
const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? first(value).flatMap(one => (typeof one === 'string' ? [short(one)] : [])) : []
const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? short(value) : typeof value === 'number' ? String(value) : undefined
const lower = (value: unknown): string => String(value).toLowerCase()
const first = <T>(list: readonly T[]): T[] => list.slice(0, MOST)
const short = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text)
