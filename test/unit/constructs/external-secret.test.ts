import { App, Chart } from 'cdk8s'
import { expect, test } from 'vitest'
import { Application } from '../../../constructs/application.ts'
import { toManifests } from '../../../constructs/index.ts'
import { containerOf, deploymentOf, planOf, podOf } from '../../support/constructs/plans.ts'

const plan = planOf({
  externalSecrets: [
    {
      name: 'db',
      source: 'devctl.yml#environments.staging.secrets',
      store: { name: 'vault', kind: 'ClusterSecretStore' },
      data: [{ secretKey: 'password', remote: { key: 'teams/shop', property: 'pw' } }],
    },
  ],
  workloads: [
    deploymentOf('web', {
      ...podOf({
        containers: [
          containerOf({
            env: [
              { name: 'LITERAL', value: '$(NAME)' },
              { name: 'PASSWORD', secret: { name: 'db', key: 'password' } },
            ],
          }),
        ],
      }),
    }),
  ],
})

test('an ExternalSecret has the references to the store and the defaults of the API server', () => {
  const [first] = toManifests(plan)
  expect(first).toMatchObject({
    folder: '_shared',
    source: 'devctl.yml#environments.staging.secrets',
    object: {
      apiVersion: 'external-secrets.io/v1',
      kind: 'ExternalSecret',
      metadata: { name: 'db', namespace: 'dev', labels: { 'dev.platform/environment': 'shop' } },
    },
  })
  expect(first!.object['spec']).toEqual({
    secretStoreRef: { name: 'vault', kind: 'ClusterSecretStore' },
    target: { name: 'db' },
    data: [
      {
        secretKey: 'password',
        remoteRef: {
          key: 'teams/shop',
          property: 'pw',
          conversionStrategy: 'Default',
          decodingStrategy: 'None',
          metadataPolicy: 'None',
        },
      },
    ],
  })
})

test('a variable names the key of a Secret, or has an escaped value', () => {
  expect(JSON.stringify(toManifests(plan).at(-1)!.object)).toContain(
    JSON.stringify([
      { name: 'LITERAL', value: '$$(NAME)' },
      { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'db', key: 'password' } } },
    ]),
  )
})

test('a chart holds the same objects', () => {
  const chart = new Chart(new App(), 'chart')
  new Application(chart, 'app', plan)
  const objects: unknown[] = chart.toJson()
  expect(objects).toEqual(toManifests(plan).map(({ object }) => object))
})
