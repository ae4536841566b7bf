import { expect, test } from 'vitest'
import type { KubeObject } from '../../../../../adapters/kubernetes/cluster.ts'
import { settingsOf } from '../../../../../platform/rules/runs/service-settings.ts'

const workload = (spec: unknown): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'api' },
  spec,
})

test('settingsOf describes a service without the values of its variables', () => {
  const found = settingsOf(
    workload({
      replicas: 2,
      template: {
        spec: {
          volumes: [
            { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
            { name: 'key', secret: { secretName: 'api-key' } },
            { name: 'file', configMap: { name: 'api-file' } },
            { name: 'scratch', emptyDir: {} },
          ],
          containers: [
            { name: 'proxy', image: 'envoy' },
            {
              name: 'api',
              image: 'shop/api:1.4.3',
              command: ['node'],
              args: ['server.js', '--port', '80'],
              workingDir: '/app',
              ports: [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP' }],
              env: [
                { name: 'GREETING', value: 'canary' },
                { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'db-password', key: 'canary-key' } } },
              ],
              envFrom: [{ prefix: 'APP_', configMapRef: { name: 'all' } }],
              volumeMounts: [
                { name: 'data', mountPath: '/data' },
                { name: 'key', mountPath: '/run/secrets/key', readOnly: true },
                { name: 'file', mountPath: '/etc/api.conf' },
                { name: 'scratch', mountPath: '/tmp' },
              ],
              readinessProbe: { httpGet: { path: '/health', port: 80 }, periodSeconds: 5, failureThreshold: 2 },
              livenessProbe: { exec: { command: ['true'] } },
              resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { memory: '128Mi' } },
            },
          ],
        },
      },
    }),
    'api',
  )
  expect(found).toEqual({
    image: 'shop/api:1.4.3',
    entrypoint: ['node'],
    command: ['server.js', '--port', '80'],
    directory: '/app',
    replicas: 2,
    ports: ['80', '53/udp'],
    variables: [
      { name: 'GREETING' },
      { name: 'PASSWORD', from: 'secret/db-password' },
      { name: 'APP_*', from: 'configmap/all' },
    ],
    volumes: [
      { path: '/data', from: 'persistentvolumeclaim/data' },
      { path: '/run/secrets/key', from: 'secret/api-key', isReadOnly: true },
      { path: '/etc/api.conf', from: 'configmap/api-file' },
      { path: '/tmp', from: 'temporary; deleted with the Pod' },
    ],
    checks: [
      { kind: 'readiness', does: 'GET /health on port 80', every: 5, failures: 2 },
      { kind: 'liveness', does: 'true', every: 10, failures: 3 },
    ],
    resources: [
      { name: 'cpu', request: '100m' },
      { name: 'memory', request: '64Mi', limit: '128Mi' },
    ],
  })
  expect(JSON.stringify(found)).not.toContain('canary')
})

const NOTHING = { ports: [], variables: [], volumes: [], checks: [], resources: [] }

test.each([undefined, null, 'text', {}, { template: null }, { template: { spec: { containers: 'none' } } }])(
  'settingsOf reads nothing from a spec that is not of a workload: %j',
  spec => {
    expect(settingsOf(workload(spec), 'api')).toEqual(NOTHING)
  },
)

test('settingsOf cuts very large settings', () => {
  const env = Array.from({ length: 5000 }, (_, at) => ({ name: `N${at}`, value: 'x' }))
  const containers = [{ name: 'api', image: 'x'.repeat(5000), env, volumeMounts: [{ mountPath: {} }], ports: [{}] }]
  const found = settingsOf(workload({ template: { spec: { containers } } }), 'api')
  expect(found.variables).toHaveLength(200)
  expect(found.image).toHaveLength(1001)
  expect(found).toMatchObject({ volumes: [], ports: [] })
})
