import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { KubernetesObject, Manifest } from '../../../../../constructs/manifest.ts'
import { toBase, toOverlay } from '../../../../../gitops/repository/layout/overlay.ts'

const manifest = (object: KubernetesObject, folder = object.metadata.name): Manifest => ({
  source: `compose.yaml#services.${folder}`,
  folder,
  object,
})

interface Workload {
  readonly kind?: string
  readonly namespace?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly replicas?: number
  readonly images?: Readonly<Record<string, string>>
  readonly init?: Readonly<Record<string, string>>
  readonly volumes?: readonly object[]
}

function workload(name: string, more: Workload = {}): Manifest {
  const { kind = 'Deployment', namespace, labels, replicas, images = { [name]: 'nginx:1' }, init, volumes } = more
  const containers = (of: Readonly<Record<string, string>>) =>
    Object.entries(of).map(([name, image]) => ({ name, image }))
  return manifest({
    apiVersion: 'apps/v1',
    kind,
    metadata: { name, ...(namespace && { namespace }), ...(labels && { labels }) },
    spec: {
      ...(replicas !== undefined && { replicas }),
      ...(labels && { selector: { matchLabels: labels } }),
      template: {
        ...(labels && { metadata: { labels } }),
        spec: {
          ...(init && { initContainers: containers(init) }),
          containers: containers(images),
          ...(volumes && { volumes }),
        },
      },
    },
  })
}

const configMap = (name: string, data: Readonly<Record<string, string>> = {}, namespace?: string): Manifest =>
  manifest(
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...(namespace && { namespace }) }, data },
    '_shared',
  )

function overlay(base: readonly Manifest[], wanted: readonly Manifest[]) {
  const files = toOverlay(base, wanted, { basePath: '../base' })
  const { apiVersion: _, kind: __, ...kustomization } = parse(files.get('kustomization.yaml')!)
  return { files, paths: [...files.keys()], kustomization }
}

const kustomizationOf = (base: Manifest, wanted: Manifest) => overlay([base], [wanted]).kustomization

describe('a base', () => {
  test('the name of a base follows from its files, in whatever order its objects come', () => {
    const { name, files } = toBase([workload('web'), configMap('a')])
    expect(name).toMatch(/^base-[0-9a-f]{8}$/)
    expect([...files.keys()]).toEqual(['_shared/configmap-a.yaml', 'web/deployment-web.yaml', 'kustomization.yaml'])
    expect(toBase([configMap('a'), workload('web')]).name).toBe(name)
    expect(toBase([configMap('a', { b: '' }), workload('web')]).name).not.toBe(name)
  })
})

describe('an overlay', () => {
  test('an overlay without differences is a reference to the base', () => {
    const { files } = overlay([workload('web')], [workload('web')])
    expect([...files]).toEqual([
      [
        'kustomization.yaml',
        'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n  - ../base\n',
      ],
    ])
  })

  test('an overlay has common changes once, and the rest in a patch of each object', () => {
    const { files } = overlay(
      [workload('web'), workload('api'), configMap('a-1', { mode: 'dev' }), configMap('site', { 'x/y~z': '1' })],
      [
        workload('web', { namespace: 'staging', replicas: 3, images: { web: 'nginx@sha256:abc' } }),
        workload('api', { namespace: 'staging', images: { api: 'nginx@sha256:abc' } }),
        configMap('a-2', { mode: 'live' }, 'staging'),
        configMap('site', { 'x/y~z': '2' }, 'staging'),
      ],
    )
    expect(Object.fromEntries(files)).toEqual({
      'kustomization.yaml': `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: staging
resources:
  - ../base
  - _shared/configmap-a-2.yaml
images:
  - name: nginx
    digest: sha256:abc
replicas:
  - name: web
    count: 3
patches:
  - patch: |
      $patch: delete
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: a-1
  - path: _patches/configmap-site.yaml
    target:
      version: v1
      kind: ConfigMap
      name: site
`,
      '_patches/configmap-site.yaml': `# compose.yaml#services._shared
- op: replace
  path: /data/x~1y~0z
  value: "2"
`,
      '_shared/configmap-a-2.yaml': `# compose.yaml#services._shared
apiVersion: v1
kind: ConfigMap
metadata:
  name: a-2
  namespace: staging
data:
  mode: live
`,
    })
  })

  test('a patch names its object exactly', () => {
    const { kustomization } = overlay([configMap('a.b', { x: '1' })], [configMap('a.b', { x: '2' })])
    expect(kustomization.patches[0].target.name).toBe('a\\.b')
  })

  test('a deletion names the namespace that the base has', () => {
    const { kustomization } = overlay([configMap('a', {}, 'shop')], [])
    expect(parse(kustomization.patches[0].patch).metadata).toEqual({ name: 'a', namespace: 'shop' })
  })

  test('the folder of patches does not collide with the folder of a service', () => {
    const { paths } = overlay([workload('patches')], [workload('patches', { kind: 'StatefulSet' }), workload('x')])
    expect(paths).toEqual(['kustomization.yaml', 'patches/statefulset-patches.yaml', 'x/deployment-x.yaml'])
  })

  test('a source with a line break does not end the first comment of a patch', () => {
    const source = 'compose.yaml#x\n- op: remove'
    const { files } = overlay([configMap('a', { x: '1' })], [{ ...configMap('a', { x: '2' }), source }])
    expect(parse(files.get('_patches/configmap-a.yaml')!)).toHaveLength(1)
  })

  test('toOverlay refuses two objects of one name', () => {
    expect(() => overlay([configMap('a'), configMap('a')], [])).toThrow('two objects v1 ConfigMap a')
  })
})

describe('the namespace of a kustomization', () => {
  test('the namespace is set if all objects move into one', () => {
    expect(kustomizationOf(workload('a'), workload('a', { namespace: 'n' }))).toMatchObject({ namespace: 'n' })
  })

  test('the namespace is not set if one object stays outside', () => {
    const { kustomization, files } = overlay(
      [workload('a'), workload('b')],
      [workload('a', { namespace: 'n' }), workload('b')],
    )
    expect(kustomization.namespace).toBeUndefined()
    expect(parse(files.get('_patches/deployment-a.yaml')!)).toEqual([
      { op: 'add', path: '/metadata/namespace', value: 'n' },
    ])
  })

  test('the namespace is set beside its own Namespace object, and not beside another one', () => {
    const namespace = (name: string) => manifest({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, '_shared')
    const moved = workload('a', { namespace: 'n' })
    expect(overlay([workload('a')], [namespace('n'), moved]).kustomization.namespace).toBe('n')
    expect(overlay([workload('a')], [namespace('m'), moved]).kustomization.namespace).toBeUndefined()
  })

  test('the namespace also moves the accounts of bindings', () => {
    const rights = (namespace?: string) => {
      const metadata = { name: 'a-waits', ...(namespace && { namespace }) }
      const subjects = [{ kind: 'ServiceAccount', ...(namespace && { namespace }), name: 'a-waits' }]
      return [
        manifest({ apiVersion: 'v1', kind: 'ServiceAccount', metadata }, 'a'),
        manifest({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', metadata, subjects }, 'a'),
      ]
    }
    expect(overlay(rights(), rights('n')).kustomization).toEqual({ namespace: 'n', resources: ['../base'] })
    expect(overlay(rights('m'), rights('n')).kustomization).toEqual({ namespace: 'n', resources: ['../base'] })
  })
})

describe('the images of a kustomization', () => {
  const image = (before: string, after: string) =>
    kustomizationOf(workload('a', { images: { a: before } }), workload('a', { images: { a: after } }))
  const digest = `sha256:${'a'.repeat(64)}`

  test.each([
    ['nginx:1', 'nginx:2', { name: 'nginx', newTag: '2' }],
    ['nginx', `nginx@${digest}`, { name: 'nginx', digest }],
    ['nginx:1', `nginx:1@${digest}`, { name: 'nginx', newTag: '1', digest }],
    ['host:5000/app/web:1', 'other/web:1', { name: 'host:5000/app/web', newName: 'other/web', newTag: '1' }],
  ])('an entry of `images` changes %s to %s', (before, after, entry) => {
    const { images, patches } = image(before, after)
    expect(images).toEqual([entry])
    expect(patches).toBeUndefined()
  })

  test.each([
    ['a tag cannot be taken away', 'nginx:1', 'nginx'],
    ['another algorithm', 'nginx:1', `nginx@sha512:${'a'.repeat(128)}`],
  ])('a patch changes an image that `images` cannot express: %s', (_, before, after) => {
    const { images, patches } = image(before, after)
    expect(images).toBeUndefined()
    expect(patches).toHaveLength(1)
  })

  test.each<[string, Workload, Workload]>([
    ['two containers, two tags', { images: { a: 'x:1', b: 'x:1' } }, { images: { a: 'x:2', b: 'x:3' } }],
    ['one of them stays', { images: { a: 'x:1', b: 'x:1' } }, { images: { a: 'x:2', b: 'x:1' } }],
    [
      'an init container stays',
      { images: { a: 'x:1' }, init: { i: 'x:1' } },
      { images: { a: 'x:2' }, init: { i: 'x:1' } },
    ],
    [
      'the name is a pattern',
      { images: { a: 'r.io/x:1', b: 'r-io/x:1' } },
      { images: { a: 'r.io/x:2', b: 'r-io/x:1' } },
    ],
    [
      'a volume of that image',
      { images: { a: 'x:1' }, volumes: [{ name: 'v', image: { reference: 'x:1' } }] },
      { images: { a: 'x:2' }, volumes: [{ name: 'v', image: { reference: 'x:1' } }] },
    ],
  ])('a patch changes an image if `images` would change more: %s', (_, before, after) => {
    const { images, patches } = kustomizationOf(workload('a', before), workload('a', after))
    expect(images).toBeUndefined()
    expect(patches).toHaveLength(1)
  })

  test('patches swap two images, since one entry would follow the other', () => {
    const { images, patches } = kustomizationOf(
      workload('a', { images: { a: 'x:1', b: 'y:1' } }),
      workload('a', { images: { a: 'y:1', b: 'x:1' } }),
    )
    expect(images).toBeUndefined()
    expect(patches).toHaveLength(1)
  })

  test('an entry of `images` is not used if a new object has the old image', () => {
    const { images } = overlay(
      [workload('a', { images: { a: 'x:1' } })],
      [workload('a', { images: { a: 'x:2' } }), workload('b', { images: { b: 'x:1' } })],
    ).kustomization
    expect(images).toBeUndefined()
  })
})

describe('the replicas of a kustomization', () => {
  test('an entry of `replicas` is not used if an object of the same name has another number', () => {
    const before = [workload('a', { replicas: 1 }), workload('a', { kind: 'StatefulSet', replicas: 1 })]
    const after = [workload('a', { replicas: 2 }), workload('a', { kind: 'StatefulSet', replicas: 1 })]
    expect(overlay(before, after).kustomization).toMatchObject({ patches: [{ path: '_patches/deployment-a.yaml' }] })
    expect(overlay(before, after).kustomization.replicas).toBeUndefined()
  })

  test('a patch removes the number of replicas', () => {
    const { files } = overlay([workload('a', { replicas: 2 })], [workload('a')])
    expect(parse(files.get('_patches/deployment-a.yaml')!)).toEqual([{ op: 'remove', path: '/spec/replicas' }])
  })
})

describe('the labels of a kustomization', () => {
  const labelled = (value: string) => workload('a', { labels: { env: value } })
  const external = (value: string) =>
    manifest({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'a', labels: { env: value } },
      spec: { externalName: 'example.com' },
    })

  test('labels include selectors if they are the same everywhere', () => {
    expect(kustomizationOf(labelled('one'), labelled('two'))).toEqual({
      resources: ['../base'],
      labels: [{ pairs: { env: 'two' }, includeSelectors: true }],
    })
  })

  test('labels do not include selectors if a Service has none', () => {
    const { kustomization } = overlay([labelled('one'), external('one')], [labelled('two'), external('two')])
    expect(kustomization.labels).toEqual([{ pairs: { env: 'two' }, includeTemplates: true }])
    expect(kustomization.patches).toEqual([expect.objectContaining({ path: '_patches/deployment-a.yaml' })])
  })

  test('labels are changed by patches if an object lacks them', () => {
    const { kustomization } = overlay([labelled('one'), configMap('c')], [labelled('two'), configMap('c')])
    expect(kustomization.labels).toBeUndefined()
  })
})
