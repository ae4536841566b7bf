import { describe, expect, test } from 'vitest'
import type { KubernetesObject } from '../../../../constructs/manifest.ts'
import { isForced, withForce, withoutForce } from '../../../../gitops/repository/force.ts'
import { obstacleTo } from '../../../../gitops/repository/in-place.ts'

const object = (kind: string, rest: object): KubernetesObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name: 'one' },
  ...rest,
})
const claim = (spec: object) =>
  object('PersistentVolumeClaim', {
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } }, ...spec },
  })
const size = (storage: string) => ({ resources: { requests: { storage } } })
const template = (spec: object, type: object = {}) => ({
  ...type,
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce'], ...spec },
})

describe('changes that are not possible in place', () => {
  const [headless, ported] = [{ spec: { clusterIP: 'None' } }, { spec: { ports: [{ port: 80 }] } }]
  const replaced: readonly (readonly [string, string, object, object])[] = [
    ['a Service that gets ports', 'Service', headless, ported],
    ['a Service that loses them', 'Service', ported, headless],
    ['a selector', 'Deployment', { spec: { selector: { a: '1' } } }, { spec: { selector: { a: '2' } } }],
    ['a selector of a DaemonSet', 'DaemonSet', { spec: { selector: { a: '1' } } }, { spec: { selector: {} } }],
    ['the name of a Service of Pods', 'StatefulSet', { spec: { serviceName: 'a' } }, { spec: { serviceName: 'b' } }],
    [
      'claim templates',
      'StatefulSet',
      { spec: { volumeClaimTemplates: [template(size('1Gi'))] } },
      { spec: { volumeClaimTemplates: [template(size('2Gi'))] } },
    ],
    ['how often a Job has to succeed', 'Job', { spec: { completions: 1 } }, { spec: { completions: 2 } }],
    ['whose rights are bound', 'RoleBinding', { roleRef: { name: 'a' } }, { roleRef: { name: 'b' } }],
    ['the type of a Secret', 'Secret', { type: 'Opaque' }, { type: 'kubernetes.io/tls' }],
    ['immutable files', 'ConfigMap', { immutable: true, data: { a: '1' } }, { immutable: true, data: { a: '2' } }],
  ]
  test.each(replaced)('obstacleTo requires a replacement for a change: %s', (_, kind, before, after) => {
    expect(obstacleTo(object(kind, before), object(kind, after))).toMatchObject({ way: 'replace' })
    expect(obstacleTo(object(kind, after), object(kind, after))).toBeUndefined()
  })

  const refused: readonly (readonly [string, object, object, string])[] = [
    ['a smaller claim', {}, size('1Gi'), 'a claim cannot shrink: 2Gi → 1Gi'],
    [
      'another class',
      { storageClassName: 'fast' },
      { storageClassName: 'slow' },
      'a claim keeps its storage class: fast → slow',
    ],
    ['a class', {}, { storageClassName: 'slow' }, "a claim keeps its storage class: the cluster's default → slow"],
    [
      'other access',
      {},
      { accessModes: ['ReadWriteMany'] },
      'a claim keeps its access mode: ReadWriteOnce → ReadWriteMany',
    ],
  ]
  test.each(refused)('obstacleTo refuses %s, since the data would be lost', (_, before, after, reason) => {
    const option = reason.includes('class') ? 'class' : reason.includes('access') ? 'access' : 'size'
    expect(obstacleTo(claim(before), claim(after))).toEqual({ way: 'refuse', reason, option })
  })
})

test('obstacleTo accepts changes that are possible in place', () => {
  expect(obstacleTo(claim({}), claim(size('2048Mi')))).toBeUndefined()
  expect(obstacleTo(claim({}), claim(size('10Gi')))).toBeUndefined()
  expect(obstacleTo(claim({}), claim({ volumeMode: 'Filesystem' }))).toBeUndefined()
  const external = object('Service', { spec: { type: 'ExternalName', externalName: 'example.com' } })
  expect(obstacleTo(external, object('Service', { spec: { clusterIP: 'None' } }))).toBeUndefined()
  expect(obstacleTo(object('Service', { spec: { ports: [] } }), external)).toBeUndefined()
  const set = (claimTemplate: object) => object('StatefulSet', { spec: { volumeClaimTemplates: [claimTemplate] } })
  const typed = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' }
  // Earlier versions left these fields to the server.
  expect(obstacleTo(set(template({})), set(template({ volumeMode: 'Filesystem' }, typed)))).toBeUndefined()
  expect(obstacleTo(object('ConfigMap', { data: { a: '1' } }), object('ConfigMap', { data: {} }))).toBeUndefined()
})

test('withForce and withoutForce keep the annotations of the user', () => {
  const own = { 'argocd.argoproj.io/sync-options': 'Validate=false', 'example.com/a': 'b' }
  for (const annotations of [undefined, own]) {
    const plain = object('Service', { metadata: { name: 'one', ...(annotations && { annotations }) } })
    const { object: forced } = withForce({ source: 'compose.yaml', folder: 'one', object: plain })
    expect(isForced(plain)).toBe(false)
    expect(isForced(forced)).toBe(true)
    expect(forced.metadata.annotations).toMatchObject({ 'kustomize.toolkit.fluxcd.io/force': 'enabled' })
    expect(withoutForce(forced)).toEqual(plain)
    expect(withoutForce(plain)).toBe(plain)
  }
})
