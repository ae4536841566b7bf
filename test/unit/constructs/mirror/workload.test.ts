import { expect, test } from 'vitest'
import { mapIn } from '../../../../constructs/mirror/json.ts'
import { mirror } from '../../../../constructs/mirror/mirror.ts'
import type { LiveObject } from '../../../../constructs/mirror/settings.ts'
import { facts, settings } from '../../../support/mirror/settings.ts'

type Labels = Readonly<Record<string, string>>

const APPLICATION: LiveObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'api', labels: { 'dev.platform/environment': 'shop' } },
  spec: {
    template: {
      metadata: { labels: { app: 'api', version: 'v1' } },
      spec: { containers: [{ name: 'api', image: 'api:1' }] },
    },
  },
}

/** Returns the labels of a mirror, those of its Pods, and the selectors of the mirror and of its Service. */
function labelsOf(original: LiveObject | undefined, labels: Labels) {
  const { workload, service } = mirror(original, settings({ labels }), facts())
  const spec = mapIn(workload, 'spec')
  return {
    own: workload.metadata.labels!,
    pods: mapIn(mapIn(spec, 'template'), 'metadata')['labels'] as Labels, // a Pod template's
    selectors: [
      mapIn(mapIn(spec, 'selector'), 'matchLabels'),
      ...(service ? [mapIn(mapIn(service, 'spec'), 'selector')] : []),
    ],
  }
}

test.each([
  ['a label of the application', APPLICATION, { version: 'dev' }],
  ['the name of a container without an application', undefined, { 'app.kubernetes.io/name': 'other' }],
  ['an additional label', APPLICATION, { team: 'a' }],
])('the Pods of a mirror have labels of the settings, and are selected, also with %s', (_, original, labels) => {
  const { own, pods, selectors } = labelsOf(original, labels)
  expect(own).toMatchObject(labels)
  expect(pods).toMatchObject(labels)
  for (const selector of selectors) expect(pods).toMatchObject(selector)
})

test('an additional label does not select Pods, as a change of it would replace the mirror', () => {
  const { selectors } = labelsOf(APPLICATION, { team: 'a' })
  expect(selectors).toEqual([{ app: 'api', version: 'v1', 'dev.platform/mirror': 'api' }])
})

const OF_DEVCTL = {
  'dev.platform/mirror': 'x',
  'dev.platform/development': 'x',
  'dev.platform/environment': 'x',
  'app.kubernetes.io/managed-by': 'x',
}

test('labels of the settings do not replace those by which devctl finds its objects', () => {
  const { own, pods, selectors } = labelsOf(APPLICATION, OF_DEVCTL)
  const found = { 'dev.platform/mirror': 'api', 'dev.platform/development': 'api' }
  expect(own).toMatchObject({
    ...found,
    'dev.platform/environment': 'shop',
    'app.kubernetes.io/managed-by': 'devctl',
  })
  expect(pods).toMatchObject(found)
  expect(selectors[0]).toMatchObject({ 'dev.platform/mirror': 'api' })
})

test('labels of a claim do not replace those by which devctl finds it', () => {
  const volume = { ...settings().volume, labels: { ...OF_DEVCTL, tier: 'dev' } }
  const { claim } = mirror(APPLICATION, settings({ volume }), facts())
  expect(claim?.metadata.labels).toMatchObject({
    tier: 'dev',
    'dev.platform/development': 'api',
    'dev.platform/environment': 'shop',
    'app.kubernetes.io/managed-by': 'devctl',
  })
})
