import { expect, test } from 'vitest'
import type { RequiredSecret } from '../../../../compiler/plan/plan.ts'
import { keysOfMissing, missingSecret } from '../../../../environment/plan/missing-secret.ts'
import type { Problem } from '../../../../environment/status/problems.ts'
import { workload } from '../../../support/objects/deploying.ts'

const problem = (detail: string): Problem => ({
  code: 'configuration',
  where: 'pod/web-1',
  pod: undefined,
  container: undefined,
  detail,
})
const from = (name: string, key: string) => ({ name: key, valueFrom: { secretKeyRef: { name, key } } })
const web = workload('Deployment', 'web', {
  spec: {
    template: {
      spec: {
        initContainers: [{ env: [from('a', 'URL')] }],
        containers: [{ env: [from('a', 'URL'), from('a', 'TOKEN'), from('b', 'OTHER'), { name: 'X', value: 'y' }] }],
      },
    },
  },
}).object
const command = '`kubectl -n ns create secret generic a --from-literal=TOKEN=… --from-literal=URL=…`'
const span = { file: { path: 'devctl.yml', text: 'a' }, start: 0, end: 1 } as RequiredSecret['span']

test('missingSecret suggests a command that creates the Secret with all its keys', () => {
  expect(missingSecret(problem('secret "a" not found'), web, [])).toEqual({
    hint: `create it before the deploy: ${command}`,
  })
})

test('missingSecret returns the place in the manifest that names the Secret', () => {
  const required = [
    { secret: 'b', key: 'OTHER', usedBy: 'services.web.environment.OTHER' },
    { secret: 'a', key: 'URL', usedBy: 'services.web.environment.URL', ...(span && { span }) },
  ]
  expect(missingSecret(problem('secret "a" not found'), web, required)).toEqual({
    hint: `create it before the deploy, or change what the manifest says of it: ${command}`,
    place: span,
  })
})

test.each(['secret "c" not found', 'configmap "a" not found', 'secret "a" has no key'])(
  'missingSecret returns nothing for: %s',
  text => {
    expect(missingSecret(problem(text), web, [])).toBeUndefined()
  },
)

test('keysOfMissing also names the keys that volumes mount', () => {
  const volumes = [
    { name: 'x', secret: { secretName: 'a', items: [{ key: 'tls.crt', path: 'x' }] } },
    { name: 'y', projected: { sources: [{ secret: { name: 'a', items: [{ key: 'token', path: 'y' }] } }] } },
    { name: 'z', secret: { secretName: 'b', items: [{ key: 'other', path: 'z' }] } },
  ]
  const job = workload('Job', 'job', { spec: { template: { spec: { containers: [], volumes } } } }).object
  const mount = problem('MountVolume.SetUp failed for volume "x" : secret "a" not found')
  expect(keysOfMissing(mount, job)).toEqual(['tls.crt', 'token'])
  expect(missingSecret(mount, job, [])?.hint).toContain('generic a --from-literal=tls.crt=… --from-literal=token=…`')
})
