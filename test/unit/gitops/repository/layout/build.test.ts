import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { KubernetesObject, Manifest } from '../../../../../constructs/manifest.ts'
import { buildFolder } from '../../../../../gitops/repository/layout/build.ts'
import { layout } from '../../../../../gitops/repository/layout/layout.ts'
import { toBase, toOverlay } from '../../../../../gitops/repository/layout/overlay.ts'
import { pairs } from '../../../../support/gitops/random-manifests.ts'

const OVERLAY = 'environments/staging/shop'

/** Builds the folder, and returns its objects by name. */
async function build(files: ReadonlyMap<string, string>, folder = OVERLAY) {
  const built = await buildFolder(folder, path => files.get(path))
  return built && byName(built)
}

function byName(objects: readonly KubernetesObject[]): Readonly<Record<string, KubernetesObject>> {
  return Object.fromEntries(
    objects.map(object => [`${object.apiVersion} ${object.kind} ${object.metadata.name}`, object]),
  )
}

function overlayFiles(base: readonly Manifest[], wanted: readonly Manifest[]): ReadonlyMap<string, string> {
  const { name, files } = toBase(base)
  const own = toOverlay(base, wanted, { basePath: `../../../apps/shop/${name}` })
  return new Map([
    ...[...files].map(([path, text]) => [`apps/shop/${name}/${path}`, text] as const),
    ...[...own].map(([path, text]) => [`${OVERLAY}/${path}`, text] as const),
  ])
}

const objectsOf = (manifests: readonly Manifest[]) => manifests.map(({ object }) => object)

describe('buildFolder', () => {
  test('buildFolder restores the objects for which an overlay was computed', async () => {
    const builds = fc.asyncProperty(pairs, async ([base, wanted]) => {
      expect(await build(overlayFiles(base, wanted))).toEqual(byName(objectsOf(wanted)))
    })
    await fc.assert(builds, { numRuns: 200 })
  })

  test.each(['plain', 'single-file'] as const)('buildFolder restores the objects of the layout %s', async name => {
    const about = { application: 'shop', options: [], sources: [] }
    const builds = fc.asyncProperty(pairs, async ([wanted]) => {
      expect(await build(layout(wanted, { layout: name, about }), '.')).toEqual(byName(objectsOf(wanted)))
    })
    await fc.assert(builds, { numRuns: 50 })
  })
})

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web}
spec:
  template:
    spec:
      containers:
        - name: web
          image: nginx:1
          env: [{name: A, value: "1"}]
`

/** Returns the objects that a kustomization with these lines builds from a Deployment. */
async function built(lines: string, more: Readonly<Record<string, string>> = {}) {
  const files = {
    'base/kustomization.yaml': `${HEAD}resources: [web.yaml]\n`,
    'base/web.yaml': DEPLOYMENT,
    [`${OVERLAY}/kustomization.yaml`]: `${HEAD}resources: [../../../base]\n${lines}`,
    ...more,
  }
  const objects = await build(new Map(Object.entries(files)))
  return objects && Object.values(objects)
}

const HEAD = 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n'
const TARGET = 'target: {group: apps, version: v1, kind: Deployment, name: web}'
const patchOf = (operations: string) => `patches:\n  - patch: '${operations}'\n    ${TARGET}\n`

describe('edited folders in the forms of devctl', () => {
  test.each([
    ['nothing', '', {}],
    ['a namespace', 'namespace: one\n', { metadata: { namespace: 'one' } }],
    ['labels', 'labels: [{pairs: {env: live}}]\n', { metadata: { labels: { app: 'web', env: 'live' } } }],
    ['replicas', 'replicas: [{name: web, count: 3}]\n', { spec: { replicas: 3 } }],
    [
      'images',
      'images: [{name: nginx, newTag: "2"}]\n',
      { spec: { template: { spec: { containers: [{ image: 'nginx:2' }] } } } },
    ],
    [
      'a patch that is written in place',
      patchOf('[{"op": "add", "path": "/metadata/annotations", "value": {"a~b/c": "d"}}]'),
      { metadata: { annotations: { 'a~b/c': 'd' } } },
    ],
    [
      'a patch that adds to the end of a list',
      patchOf('[{"op": "add", "path": "/spec/template/spec/containers/0/env/-", "value": {"name": "B"}}]'),
      { spec: { template: { spec: { containers: [{ env: [{ name: 'A', value: '1' }, { name: 'B' }] }] } } } },
    ],
  ])('buildFolder applies %s', async (_, lines, expected) => {
    expect(await built(lines)).toMatchObject([expected])
  })

  test('buildFolder applies a deletion that is a file of its own', async () => {
    const path = `${OVERLAY}/gone.yaml`
    const text = '$patch: delete\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n'
    expect(await built('patches: [{path: gone.yaml}]\n', { [path]: text })).toEqual([])
  })

  test('buildFolder ignores a patch without a matching target', async () => {
    expect(await built('patches: [{patch: "[]", target: {kind: Job}}]\n')).toMatchObject([{ kind: 'Deployment' }])
  })

  test('buildFolder reads a list of objects', async () => {
    const list = 'apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}]\n---\n'
    expect(await built('', { 'base/web.yaml': list })).toMatchObject([{ kind: 'ConfigMap' }])
  })
})

describe('folders in other forms', () => {
  test.each([
    ['no YAML', '}'],
    ['another key', 'namePrefix: a-\n'],
    ['another resource', 'resources: [https://example.com/base]\n'],
    [
      'a merge patch',
      'patches: [{patch: "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {}}"}]\n',
    ],
    ['another operation', patchOf('[{"op": "move", "path": "/a", "from": "/b"}]')],
    ['an operation that meets nothing', patchOf('[{"op": "replace", "path": "/spec/nothing", "value": 1}]')],
    [
      'an operation behind the end of a list',
      patchOf('[{"op": "remove", "path": "/spec/template/spec/containers/1"}]'),
    ],
    ['another name', patchOf('[{"op": "replace", "path": "/metadata/name", "value": "other"}]')],
    ['operations for nobody', 'patches: [{patch: "[]"}]\n'],
    ['a pattern', 'patches: [{patch: "[]", target: {name: .*}}]\n'],
    ['a selector', 'patches: [{patch: "[]", target: {labelSelector: a=b}}]\n'],
    ['an image that keeps its tag', 'images: [{name: nginx, newName: caddy}]\n'],
    ['replicas of nobody', 'replicas: [{name: other, count: 3}]\n'],
    [
      'a deletion of what is not there',
      `patches: [{patch: '{$patch: delete, apiVersion: v1, kind: Job, metadata: {name: x}}'}]\n`,
    ],
  ])('buildFolder returns nothing for a kustomization with %s', async (_, lines) => {
    expect(await built(lines)).toBeUndefined()
  })

  test.each([
    ['no base', { 'base/kustomization.yaml': '' }],
    ['a file that is missing', { 'base/kustomization.yaml': `${HEAD}resources: [gone.yaml]\n` }],
    ['a file that is no YAML', { 'base/web.yaml': '}' }],
    [
      'a file from elsewhere',
      { 'base/kustomization.yaml': `${HEAD}resources: [../web.yaml]\n`, 'web.yaml': DEPLOYMENT },
    ],
    ['no object', { 'base/web.yaml': 'a: b\n' }],
    ['an object without a name', { 'base/web.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n' }],
    ['two objects of one name', { 'base/web.yaml': `${DEPLOYMENT}---\n${DEPLOYMENT}` }],
    ['a circle', { 'base/kustomization.yaml': `${HEAD}resources: [../${OVERLAY}]\n` }],
    [
      'an object of no namespace, into one',
      {
        'base/web.yaml': 'apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: a}\n',
        [`${OVERLAY}/kustomization.yaml`]: `${HEAD}namespace: n\nresources: [../../../base]\n`,
      },
    ],
  ])('buildFolder returns nothing for files with %s', async (_, more) => {
    expect(await built('', more)).toBeUndefined()
  })
})
