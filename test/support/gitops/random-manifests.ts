import fc from 'fast-check'
import type { KubernetesObject, Manifest } from '../../../constructs/manifest.ts'

/** Texts that some reader of YAML takes for something else, or that need care to be written. */
const texts = fc.constantFrom(
  ...[
    '',
    'a',
    'yes',
    'null',
    '~',
    '012',
    '0o17',
    '0x1F',
    '1e3',
    '1_000',
    '.inf',
    '2024-01-01',
    '12:30:45',
    'a: b',
    '# c',
  ],
  ...[
    'line\nline\n',
    ' both ',
    'tab\t',
    '\n',
    'end \n\n',
    '- x',
    '$(X) ${Y} $$',
    '"',
    "'",
    '\\',
    '%',
    '@',
    '`',
    'ä😀',
    '<<',
    '=',
  ],
)
const images = fc.constantFrom('x:1', 'x:2', `x@sha256:${'a'.repeat(64)}`, 'r.io/x:1', 'r-io/x:1', 'y')
const names = fc.constantFrom('a', 'b', 'c', 'a.b')
const sometimes = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })

/** Values that all objects of one render share. */
interface Settings {
  readonly namespace: string | undefined
  readonly env: string
  readonly image: string
}

const settings: fc.Arbitrary<Settings> = fc.record({
  namespace: fc.constantFrom(undefined, 'one', 'two'),
  env: fc.constantFrom('dev', 'live'),
  image: images,
})

/** Generates two lists of objects that share some of their names; bindings name existing accounts, as devctl's do. */
export const pairs: fc.Arbitrary<readonly [readonly Manifest[], readonly Manifest[]]> = fc.tuple(
  settings.chain(manifests),
  settings.chain(manifests),
)

function manifests(of: Settings): fc.Arbitrary<readonly Manifest[]> {
  const container = fc.record({
    image: fc.oneof(fc.constant(of.image), images),
    args: sometimes(fc.array(texts, { maxLength: 3 })),
    env: fc.uniqueArray(fc.record({ name: fc.constantFrom('A', 'B', 'C', 'D'), value: texts }), {
      selector: ({ name }) => name,
    }),
  })
  const containers = fc
    .dictionary(fc.constantFrom('web', 'side', 'third'), container, { minKeys: 1 })
    .map(found => Object.entries(found).map(([name, one]) => ({ name, ...one })))
  const labels = fc.constantFrom<Readonly<Record<string, string>>[]>({ env: of.env }, { env: of.env, app: 'x' })
  const workload = fc
    .tuple(
      fc.constantFrom('Deployment', 'StatefulSet', 'DaemonSet'),
      names,
      labels,
      containers,
      sometimes(containers),
      sometimes(fc.nat(3)),
    )
    .map(([kind, name, labels, containers, initContainers, replicas]) => ({
      apiVersion: 'apps/v1',
      kind,
      metadata: { name, labels },
      spec: {
        replicas: kind === 'DaemonSet' ? undefined : replicas,
        selector: { matchLabels: { env: of.env } },
        template: { metadata: { labels }, spec: { initContainers, containers } },
      },
    }))
  const configMap = fc
    .tuple(names, labels, fc.dictionary(fc.constantFrom('x', 'x.y', 'a_b', '.z', '-'), texts))
    .map(([name, labels, data]) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels }, data }))
  const service = fc
    .tuple(names, labels, fc.constantFrom({ selector: { env: of.env } }, { externalName: 'x.example.com' }))
    .map(([name, labels, spec]) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name, labels }, spec }))
  const route = fc.tuple(names, labels, fc.array(texts)).map(([name, labels, hostnames]) => ({
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name, labels, annotations: { 'example.com/a~b': 'c' } },
    spec: { hostnames, rules: [{ backendRefs: [{ name, port: 80 }] }] },
  }))
  const policy = fc.tuple(names, labels).map(([name, labels]) => ({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name, labels },
    spec: {
      podSelector: { matchLabels: { env: of.env } },
      egress: [{ to: [{ namespaceSelector: {}, podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } } }] }],
    },
  }))
  const account = fc.tuple(names, labels).map(([name, labels]) => [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, labels } },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name, labels },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', ...(of.namespace && { namespace: of.namespace }), name }],
    },
  ])
  const space = fc
    .constantFrom('one', 'two')
    .map(name => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { env: of.env } } }))
  const one = fc
    .oneof(
      { weight: 4, arbitrary: workload },
      ...[configMap, service, route, policy, space].map(of => ({ weight: 1, arbitrary: of })),
    )
    .map(object => [object])
  return fc.array(fc.oneof({ weight: 5, arbitrary: one }, account), { maxLength: 8 }).map(found => {
    const byName = new Map(found.flat().map(object => [`${object.kind} ${object.metadata.name}`, object]))
    return [...byName.values()].map(object => toManifest(object, of.namespace))
  })
}

function toManifest(object: KubernetesObject, namespace: string | undefined): Manifest {
  const metadata = { ...object.metadata, ...(namespace !== undefined && object.kind !== 'Namespace' && { namespace }) }
  return { source: 'random', folder: object.metadata.name, object: JSON.parse(JSON.stringify({ ...object, metadata })) }
}
