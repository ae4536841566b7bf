import { expect, test } from 'vitest'
import { webhooksFor } from '../../../../environment/plan/webhooks-for.ts'
import { newCluster } from '../../../support/objects/deploying.ts'

const rule = { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['deployments'] }
const PATH = '/apis/apps/v1/namespaces/shop-dev/deployments/web?dryRun=All'

/** Returns the webhooks that are asked about a request if one with these fields exists. */
async function asked(fields: object, method: 'PATCH' | 'DELETE' | 'POST' = 'PATCH', path = PATH) {
  const cluster = newCluster()
  const labels = { team: 'shop' }
  await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop-dev', labels } }, { manager: 'a' })
  const webhooks = [{ name: 'check.example.com', rules: [rule], ...fields }]
  const apiVersion = 'admissionregistration.k8s.io/v1'
  for (const kind of ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'])
    cluster.register({ apiVersion, kind, name: `${kind.toLowerCase()}s`, namespaced: false, hasStatus: false })
  await cluster.create({ apiVersion, kind: 'ValidatingWebhookConfiguration', metadata: { name: 'check' }, webhooks })
  return webhooksFor(cluster, { method, path }, AbortSignal.timeout(5000))
}

const expressions = (key: string, operator: string, values?: readonly string[]) => ({
  namespaceSelector: { matchExpressions: [{ key, operator, ...(values && { values }) }] },
})

test.each([
  ['its rule', {}],
  ['a rule for everything', { rules: [{ apiGroups: ['*'], operations: ['*'], resources: ['*/*'] }] }],
  ['a label of the namespace', { namespaceSelector: { matchLabels: { team: 'shop' } } }],
  ['a label of the namespace among others', expressions('team', 'In', ['shop', 'blog'])],
  ['a label that the namespace does not have', expressions('system', 'DoesNotExist')],
  ['another value', expressions('team', 'NotIn', ['blog'])],
])('a webhook is asked because of %s', async (_, fields) => {
  expect(await asked(fields)).toEqual([{ name: 'check.example.com', seconds: 10 }])
})

test.each([
  ['the group', { rules: [{ ...rule, apiGroups: [''] }] }],
  ['the resource', { rules: [{ ...rule, resources: ['pods'] }] }],
  ['the operation', { rules: [{ ...rule, operations: ['DELETE'] }] }],
  ['a label of the namespace', { namespaceSelector: { matchLabels: { team: 'blog' } } }],
  ['no label', expressions('system', 'Exists')],
])('a webhook is not asked because of %s', async (_, fields) => {
  expect(await asked(fields)).toEqual([])
})

test('webhooksFor handles the core group, and objects in no namespace', async () => {
  const rules = [{ apiGroups: [''], operations: ['CREATE'], resources: ['namespaces', 'services'] }]
  const none = { rules, timeoutSeconds: 3, ...expressions('none', 'Exists') }
  expect(await asked(none, 'POST', '/api/v1/namespaces')).toEqual([{ name: 'check.example.com', seconds: 3 }])
  expect(await asked({ rules }, 'POST', '/api/v1/namespaces/shop-dev/services')).toHaveLength(1)
  expect(await asked({ rules }, 'DELETE', '/api/v1/namespaces/shop-dev/services/web')).toEqual([])
})
