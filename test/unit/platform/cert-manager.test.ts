import { expect, test } from 'vitest'
import { platformObjects } from '../../../platform/install/manifests/server.ts'

const one = {
  version: '1.0.0',
  domain: 'dev.example.com',
  image: 'x',
  runnerImage: 'y',
  replicas: 1,
  kubernetes: { server: 'https://k.example.com' },
}

test('cert-manager issues one certificate for the Ingresses of the platform and of environments', () => {
  const objects = platformObjects({ ...one, certManager: 'letsencrypt', tlsSecret: 'platform-tls' })
  expect(objects.find(({ kind }) => kind === 'Certificate')).toMatchObject({
    apiVersion: 'cert-manager.io/v1',
    metadata: { name: 'platform-tls', namespace: 'devctl-platform' },
    spec: {
      secretName: 'platform-tls',
      dnsNames: ['*.dev.example.com', 'dev.example.com'],
      issuerRef: { kind: 'ClusterIssuer', name: 'letsencrypt' },
    },
  })
  const secrets = objects
    .filter(({ kind }) => kind === 'Ingress')
    .map(({ spec }) => (spec as { tls: readonly { secretName?: string }[] }).tls[0]?.secretName)
  expect(secrets).toEqual(['platform-tls', 'platform-tls'])
  expect(platformObjects(one).some(({ kind }) => kind === 'Certificate')).toBe(false)
})
