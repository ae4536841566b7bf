import { expect, test } from 'vitest'
import { platformObjects } from '../../../platform/install/manifests/server.ts'

test('a Pod of the server waits before it ends, so the ingress controller can stop using it', () => {
  const objects = platformObjects({
    version: '0.1.0',
    domain: 'dev.example.com',
    image: 'platform:1',
    runnerImage: 'runner:1',
    replicas: 1,
    kubernetes: { server: 'https://k.example.com' },
  })
  expect(objects.find(({ kind }) => kind === 'Deployment')).toMatchObject({
    spec: { template: { spec: { containers: [{ lifecycle: { preStop: { exec: { command: ['sleep', '3'] } } } }] } } },
  })
})
