import type { KubernetesObject } from '../../constructs/manifest.ts'

/**
 * Returns the problems of the objects of one application, as sentences: names that are missing or not DNS names,
 * duplicate objects, selectors that select nothing, ports that no container has, routes and mounts that lead nowhere.
 * (The API server accepts all of these.) Also reports fields that the server would add and a GitOps controller would
 * compare: the application would be out of sync forever.
 */
export function checkObjects(objects: readonly KubernetesObject[], options: { namespace: boolean }): readonly string[] {
  const pods = objects.flatMap(podsOf)
  return [
    ...objects.flatMap(object => checkMetadata(object, options)),
    ...twice(objects.map(idOf)).map(id => `${id} is there twice`),
    ...objects.flatMap(checkWorkload),
    ...objects.flatMap(checkDefaults),
    ...pods.flatMap(checkMounts),
    ...objects.filter(object => object.kind === 'Service').flatMap(service => checkService(service, pods)),
    ...objects.filter(isRoute).flatMap(route => checkRoute(route, objects)),
    ...checkReferences(objects, pods),
  ]
}

interface Pod {
  readonly owner: string
  readonly labels: Readonly<Record<string, string>>
  readonly spec: Value
  readonly claimTemplates: readonly string[]
}

/** A value of a manifest, whose shape the API server checks; here parts that are not there are simply undefined. */
class Value {
  readonly value: unknown
  constructor(value: unknown) {
    this.value = value
  }
  at(...path: readonly string[]): Value {
    let value = this.value
    for (const key of path) value = value === null || typeof value !== 'object' ? undefined : Reflect.get(value, key)
    return new Value(value)
  }
  list(...path: readonly string[]): readonly Value[] {
    const { value } = this.at(...path)
    return Array.isArray(value) ? value.map(item => new Value(item)) : []
  }
  entries(...path: readonly string[]): Readonly<Record<string, string>> {
    const { value } = this.at(...path)
    return value !== null && typeof value === 'object' ? { ...value } : {}
  }
}

const idOf = (object: KubernetesObject) => `${object.kind.toLowerCase()}/${object.metadata.name}`
const isRoute = (object: KubernetesObject) => object.kind === 'Ingress' || object.kind === 'HTTPRoute'
const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/

function checkMetadata(object: KubernetesObject, options: { namespace: boolean }): readonly string[] {
  const { name, namespace, labels = {} } = object.metadata
  const wrong = []
  if (!name.split('.').every(part => LABEL.test(part)) || name.length > 253) wrong.push('has a name that is not valid')
  if (object.kind === 'Service' && (!/^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(name) || name.length > 63))
    wrong.push('has a name that no Service may have')
  if (object.kind === 'StatefulSet' && name.length > 52) wrong.push('has a name too long for its Pods')
  if (options.namespace !== (namespace !== undefined)) wrong.push('has a namespace or none, unlike the others')
  for (const [key, value] of Object.entries(labels))
    if (typeof value !== 'string' || !/^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/.test(value))
      wrong.push(`has the label ${key}: ${value}`)
  return wrong.map(what => `${idOf(object)} ${what}`)
}

/**
 * The defaults of the server that controllers take for differences where the manifest leaves them out, as a real Argo
 * CD shows.
 */
function checkDefaults(object: KubernetesObject): readonly string[] {
  const spec = new Value(object).at('spec')
  const pod = spec.at('template', 'spec')
  const containers = [...pod.list('initContainers'), ...pod.list('containers')]
  const ports = [
    ...(object.kind === 'Service' ? spec.list('ports') : []),
    ...containers.flatMap(one => one.list('ports')),
  ]
  const rules = object.kind === 'HTTPRoute' ? spec.list('rules') : []
  const expected: readonly (readonly [string, readonly Value[], readonly string[]])[] = [
    ['a port', ports, ['protocol']],
    ['a claim template', spec.list('volumeClaimTemplates'), ['apiVersion', 'kind']],
    ['a claim template', spec.list('volumeClaimTemplates').map(one => one.at('spec')), ['volumeMode']],
    ['a parent', spec.list('parentRefs'), ['group', 'kind']],
    ['a backend', rules.flatMap(rule => rule.list('backendRefs')), ['group', 'kind', 'weight']],
    ['a rule', rules, ['matches']],
    ['its Pods', pod.value === undefined || object.kind === 'Job' ? [] : [pod], ['serviceAccountName']],
  ]
  const missing = expected.flatMap(([what, values, keys]) =>
    values.flatMap(value => keys.filter(key => value.at(key).value === undefined).map(key => `${what} without ${key}`)),
  )
  const empty = containers.flatMap(one => one.list('env')).filter(one => one.at('value').value === '')
  return [...missing, ...empty.map(() => 'an empty value')].map(what => `${idOf(object)} has ${what}`)
}

function podsOf(object: KubernetesObject): readonly Pod[] {
  const template = new Value(object).at('spec', 'template')
  if (template.value === undefined) return []
  const claimTemplates = new Value(object)
    .list('spec', 'volumeClaimTemplates')
    .map(claim => String(claim.at('metadata', 'name').value))
  return [
    { owner: idOf(object), labels: template.entries('metadata', 'labels'), spec: template.at('spec'), claimTemplates },
  ]
}

function checkWorkload(object: KubernetesObject): readonly string[] {
  return podsOf(object).flatMap(pod => {
    const selector = new Value(object).entries('spec', 'selector', 'matchLabels')
    const wrong = []
    if (object.kind !== 'Job' && Object.keys(selector).length === 0) wrong.push('selects nothing')
    if (!selects(selector, pod.labels)) wrong.push('does not select its own Pods')
    const containers = [...pod.spec.list('containers'), ...pod.spec.list('initContainers')]
    if (pod.spec.list('containers').length === 0) wrong.push('has no container')
    for (const container of containers) {
      const name = String(container.at('name').value)
      if (!LABEL.test(name) || name.length > 63) wrong.push(`has a container with the name ${name}`)
      if (typeof container.at('image').value !== 'string') wrong.push(`has no image for ${name}`)
    }
    for (const name of twice(containers.map(container => String(container.at('name').value))))
      wrong.push(`has two containers ${name}`)
    const ports = pod.spec.list('containers').flatMap(container => container.list('ports'))
    for (const port of twice(ports.map(portId))) wrong.push(`has two containers with the port ${port}`)
    for (const port of ports) {
      const name = port.at('name').value
      if (name !== undefined && !/^(?=.*[a-z])(?!.*--)[a-z0-9]([-a-z0-9]{0,13}[a-z0-9])?$/.test(String(name)))
        wrong.push(`has a port with the name ${name}`)
    }
    return wrong.map(what => `${pod.owner} ${what}`)
  })
}

const portId = (port: Value) => `${port.at('containerPort').value}/${port.at('protocol').value ?? 'TCP'}`

function checkMounts(pod: Pod): readonly string[] {
  const volumes = pod.spec.list('volumes').map(volume => String(volume.at('name').value))
  const known = new Set([...volumes, ...pod.claimTemplates])
  const used = new Set<string>()
  const wrong = twice(volumes).map(name => `has two volumes ${name}`)
  for (const container of [...pod.spec.list('containers'), ...pod.spec.list('initContainers')]) {
    const mounts = container.list('volumeMounts')
    for (const path of twice(mounts.map(mount => String(mount.at('mountPath').value))))
      wrong.push(`mounts ${path} twice`)
    for (const mount of mounts) {
      const name = String(mount.at('name').value)
      used.add(name)
      if (!known.has(name)) wrong.push(`mounts ${name}, which is no volume`)
      if (!String(mount.at('mountPath').value).startsWith('/')) wrong.push(`mounts ${name} at a relative path`)
    }
  }
  for (const name of known) if (!used.has(name)) wrong.push(`has the volume ${name}, which nothing mounts`)
  return wrong.map(what => `${pod.owner} ${what}`)
}

function checkService(service: KubernetesObject, pods: readonly Pod[]): readonly string[] {
  const spec = new Value(service).at('spec')
  if (spec.at('type').value === 'ExternalName') return []
  const selector = spec.entries('selector')
  const selected = pods.filter(pod => selects(selector, pod.labels))
  const wrong = []
  if (Object.keys(selector).length === 0) wrong.push('selects nothing')
  if (selected.length === 0) wrong.push('selects no Pod')
  if (spec.list('ports').length === 0 && spec.at('clusterIP').value !== 'None')
    wrong.push('has neither ports nor `clusterIP: None`')
  for (const name of twice(spec.list('ports').map(port => String(port.at('name').value))))
    wrong.push(`has two ports ${name}`)
  for (const pod of selected) {
    const listed = pod.spec
      .list('containers')
      .flatMap(container => container.list('ports'))
      .map(portId)
    if (listed.length === 0) continue
    for (const port of spec.list('ports')) {
      const target = `${port.at('targetPort').value ?? port.at('port').value}/${port.at('protocol').value ?? 'TCP'}`
      if (!listed.includes(target)) wrong.push(`has the target ${target}, which no container of ${pod.owner} lists`)
    }
  }
  return wrong.map(what => `${idOf(service)} ${what}`)
}

function checkRoute(route: KubernetesObject, objects: readonly KubernetesObject[]): readonly string[] {
  const spec = new Value(route).at('spec')
  const hosts = route.kind === 'Ingress' ? spec.list('rules').map(rule => rule.at('host')) : spec.list('hostnames')
  const targets =
    route.kind === 'Ingress'
      ? spec
          .list('rules')
          .flatMap(rule => rule.list('http', 'paths'))
          .map(path => [
            path.at('backend', 'service', 'name').value,
            path.at('backend', 'service', 'port', 'number').value,
          ])
      : spec
          .list('rules')
          .flatMap(rule => rule.list('backendRefs'))
          .map(target => [target.at('name').value, target.at('port').value])
  const wrong = []
  if (targets.length === 0) wrong.push('leads nowhere')
  for (const { value: host } of hosts)
    if (
      // A wildcard stands for the first label.
      !String(host)
        .replace(/^\*\./, '')
        .split('.')
        .every(label => LABEL.test(label) && label.length <= 63)
    )
      wrong.push(`has the host ${host}`)
  for (const [name, port] of targets) {
    const service = objects.find(object => object.kind === 'Service' && object.metadata.name === name)
    const ports = new Value(service).list('spec', 'ports').map(one => one.at('port').value)
    if (!ports.includes(port)) wrong.push(`leads to port ${port} of ${name}, which is not there`)
  }
  return wrong.map(what => `${idOf(route)} ${what}`)
}

/**
 * Names in Pods, roles and routes that nothing of the application has; what is external or left out is not known here,
 * so only ConfigMaps that we name with a hash count.
 */
function checkReferences(objects: readonly KubernetesObject[], pods: readonly Pod[]): readonly string[] {
  const ids = new Set(objects.map(idOf))
  const wrong: string[] = []
  for (const pod of pods) {
    const account = pod.spec.at('serviceAccountName').value
    if (account !== undefined && account !== 'default' && !ids.has(`serviceaccount/${account}`))
      wrong.push(`${pod.owner} runs as ${account}, which is not there`)
    for (const volume of pod.spec.list('volumes')) {
      const configMap = String(volume.at('configMap', 'name').value)
      if (/-[0-9a-f]{8,}$/.test(configMap) && !ids.has(`configmap/${configMap}`))
        wrong.push(`${pod.owner} mounts ${configMap}, which is not there`)
    }
  }
  for (const object of objects.filter(one => one.kind === 'Role'))
    for (const rule of new Value(object).list('rules'))
      for (const { value: name } of rule.list('resourceNames'))
        if (!ids.has(`job/${name}`)) wrong.push(`${idOf(object)} is about ${name}, which is not there`)
  return wrong
}

function selects(selector: Readonly<Record<string, string>>, labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(selector).every(([key, value]) => labels[key] === value)
}

function twice(values: readonly string[]): readonly string[] {
  return [...new Set(values.filter((value, index) => values.indexOf(value) !== index))]
}
