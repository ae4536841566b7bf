import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../../adapters/kubernetes/cluster.ts'
import { whileResting } from '../../../../environment/apply/suspended.ts'
import { readUpRecord, upRecordOf } from '../../../../environment/record/up-record.ts'

const REPLICAS = { path: ['spec', 'replicas'], value: 3 }
const record = (more: object = {}) => ({
  version: 1,
  development: 'api',
  by: 'ann@laptop',
  since: '2026-01-01T00:00:00.000Z',
  mirror: 'api-dev',
  original: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'api', uid: '1' },
  before: [REPLICAS],
  owners: [],
  ...more,
})
const application = (text: string | undefined, kind = 'Deployment', labels = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name: 'api', labels, ...(text !== undefined && { annotations: { 'dev.platform/up': text } }) },
  spec: { replicas: 0 },
})
const withRecord = (more: object, kind?: string) => application(JSON.stringify(record(more)), kind)

describe('the record of `up`', () => {
  test('the record is read as it was written', () => {
    expect(upRecordOf(withRecord({}))).toEqual(record())
    expect(readUpRecord(application(undefined))).toEqual({ kind: 'none' })
    const paused = [{ name: 'scaler', before: null }]
    const owners = [{ manager: 'kubectl', operation: 'Update', apiVersion: 'apps/v1', fields: [REPLICAS.path] }]
    expect(readUpRecord(withRecord({ paused, owners })).kind).toBe('record')
    expect(readUpRecord(withRecord({ before: [{ ...REPLICAS, value: null }] })).kind).toBe('record')
    const suspend = { path: ['spec', 'suspend'], value: false }
    expect(readUpRecord(withRecord({ before: [suspend] }, 'CronJob')).kind).toBe('record')
    const claims = { path: ['spec', 'persistentVolumeClaimRetentionPolicy', 'whenScaled'], value: 'Delete' }
    const flux = { path: ['metadata', 'annotations', 'kustomize.toolkit.fluxcd.io/reconcile'], value: null }
    expect(readUpRecord(withRecord({ before: [REPLICAS, claims, flux] }, 'StatefulSet')).kind).toBe('record')
  })

  test('the record of a mirror has fields of the kind of its original', () => {
    const labels = { 'dev.platform/mirror': 'api' }
    const suspend = { path: ['spec', 'suspend'], value: null }
    const original = { ...record().original, kind: 'CronJob' }
    const text = JSON.stringify(record({ original, before: [suspend] }))
    expect(readUpRecord(application(text, 'Deployment', labels)).kind).toBe('record')
    const alone = JSON.stringify(record({ original: undefined, before: [] }))
    expect(readUpRecord(application(alone, 'Deployment', labels)).kind).toBe('record')
  })

  test.each<[string, KubeObject, string]>([
    ['no JSON', application('{wrong'), 'it is not valid JSON (line 1, column 2)'],
    ['another version', withRecord({ version: 2 }), '`version` '],
    ['no `before`', withRecord({ before: undefined }), '`before` is missing'],
    ['`before` that is no list', withRecord({ before: 3 }), '`before` must be an array'],
    ['no number of Pods', withRecord({ before: [] }), '`before` has no `spec.replicas`'],
    ...([-1, 'two', 1_000_000_000, 1.5, {}] as const).map((value): [string, KubeObject, string] => [
      `${JSON.stringify(value)} Pods`,
      withRecord({ before: [{ ...REPLICAS, value }] }),
      'the value of `spec.replicas` is not valid',
    ]),
    [
      'another field',
      withRecord({ before: [REPLICAS, { path: ['spec', 'template', 'spec', 'hostNetwork'], value: true }] }),
      '`spec.template.spec.hostNetwork` is not a field that `up` changes',
    ],
    [
      'the owner of another field',
      withRecord({ owners: [{ manager: 'a', operation: 'Apply', fields: [['spec', 'template']] }] }),
      '`spec.template` is not a field that `up` changes',
    ],
    [
      'what a Job has, in a Deployment',
      withRecord({ before: [{ path: ['spec', 'suspend'], value: true }] }),
      '`before` has no `spec.replicas`',
    ],
    ['a scaler without a name', withRecord({ paused: [{ before: null }] }), '`paused[0].name` is missing'],
  ])('a record with %s is unreadable', (_, object, problem) => {
    const found = readUpRecord(object)
    expect(found).toEqual({ kind: 'unreadable', problem: expect.stringContaining(problem) })
    expect(upRecordOf(object)).toBeUndefined()
  })

  test('a deploy does not set the number of Pods, also beside an unreadable record', () => {
    const wanted = { ...application(undefined), spec: { replicas: 2 } }
    expect(whileResting(wanted, application('{wrong'))).toEqual({ ...wanted, spec: {} })
  })
})
