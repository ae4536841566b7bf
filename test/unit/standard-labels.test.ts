import { describe, expect, test } from 'vitest'
import { toDnsLabel } from '../../compiler/values/dns-name.ts'
import type { KubernetesObject } from '../../constructs/manifest.ts'
import { type Case, goldenCases } from '../support/cases.ts'
import { expectedDocuments, type RenderedDocument } from '../support/documents.ts'
import {
  abbreviateLabels,
  expandLabels,
  selectorLabels,
  standardLabels,
  USUAL_APPLICATION,
} from '../support/standard-labels.ts'

/** Golden cases whose application has another name, with that name. */
const APPLICATIONS: Readonly<Record<string, string>> = {
  'project/an-environment-sets-files-variables-profiles-and-routes': 'next',
  'project/an-option-overrides-the-environment-of-the-manifest': 'shop',
  'project/top-level-name-becomes-the-environment-name': 'my-shop',
}

/**
 * Objects that do not belong to the service of their source, by case and name: to another one, or (`null`) to the
 * application.
 */
const SERVICES: Readonly<Record<string, Readonly<Record<string, string | null>>>> = {
  // These claims belong to several services.
  'host-paths/a-missing-host-folder-becomes-a-claim': { data: null },
  'host-paths/a-claim-below-a-copied-folder-is-mounted-into-it': { 'src-logs': null },
  'host-paths/a-claim-of-a-host-folder-belongs-to-the-user-of-the-service': { shared: null },
  'host-paths/a-nested-host-folder-shares-the-claim-of-its-parent': { data: null },
  'host-paths/a-host-folder-without-tracked-files-becomes-a-claim': { data: null },
  'host-paths/x-mount-decides-how-a-host-path-is-mounted': { seed: null },
  // These ConfigMaps belong to several services.
  'configs/equal-files-share-one-config-map': { 'app-copy-94f7313c': null, 'app-nginx-conf-49c5a1a7': null },
  'host-paths/a-file-in-a-mounted-folder-shares-its-config-map': { 'app-conf-df75d219': null },
  'host-paths/untracked-files-in-a-host-folder-are-left-out': { 'app-conf-4c873ab9': null },
  // This account belongs to several services.
  'depends-on/services-that-wait-for-the-same-job-share-a-service-account': { 'app-waits-for-migrate': null },
  // A link is another name of the service that it leads to.
  'names/aliases-of-links-become-services': { database: 'db' },
  // A Service cannot have these names.
  'names/service-names-become-dns-labels': { 's-1st': 's-1st', 'api-v1': 'api-v1' },
  // These names are cut, or differ only in characters that Kubernetes does not allow.
  'names/a-name-that-is-too-long-is-shortened-with-a-hash': {
    'a-service-with-a-name-that-goes-on-and-on-until-nobody-b22a8b02':
      'a-service-with-a-name-that-goes-on-and-on-until-nobody-b22a8b02',
  },
  'names/service-names-that-collide-get-a-hash': { 'my-app-3fe58': 'my-app-3fe58' },
}

const STANDARD = Object.keys(standardLabels('', ''))
type Labels = Readonly<Record<string, string>>

describe('the standard labels of golden objects', () => {
  for (const one of goldenCases().filter(({ command }) => command === 'render')) {
    const documents = expectedDocuments(one)
    if (documents.length === 0) continue
    test(one.name, () => {
      const application = APPLICATIONS[one.name] ?? USUAL_APPLICATION
      for (const document of documents) {
        const { object, file } = document
        const expected = standardLabels(application, serviceOf(document, one))
        expect(standardOf(object.metadata.labels), file).toEqual(expected)
        const pods = podTemplate(object)
        if (pods) expect(standardOf(pods), `Pods of ${file}`).toEqual(expected)
      }
    })
  }
})

test('only a case with its own application name prints its labels in full', () => {
  const usual = goldenCases().filter(({ name, command }) => command === 'render' && !(name in APPLICATIONS))
  const full = usual.flatMap(one =>
    expectedDocuments(one)
      .map(({ text }) => abbreviateLabels(text))
      .filter(text => STANDARD_LINE.test(text)),
  )
  expect(full).toEqual([])
})

const STANDARD_LINE = new RegExp(`^ *(${STANDARD.join('|').replace(/[./]/g, '\\$&')}): `, 'm')

describe('labels in an expected manifest', () => {
  const block = (labels: Labels, indent: string) =>
    Object.entries(labels)
      .map(([key, value]) => `${indent}${key}: ${value}\n`)
      .join('')
  const all = block(standardLabels('app', 'web'), '    ')
  const pods = block(selectorLabels('app', 'web'), '    ')

  test.each([
    ['those of a service', `  labels:\n${all}spec: {}\n`, '  labels: <labels of web>\nspec: {}\n'],
    [
      'those of the application',
      `  labels:\n${block(standardLabels('app'), '    ')}`,
      '  labels: <labels of the application>\n',
    ],
    ['a selector', `  selector:\n${pods}  a: 1\n`, '  selector: <pods of web>\n  a: 1\n'],
    ['a selector in a list', `- matchLabels:\n${pods}`, '- matchLabels: <pods of web>\n'],
    ['beside a label before', `  labels:\n    a: b\n${all}`, '  labels:\n    a: b\n    <<: <labels of web>\n'],
    ['beside a label after', `  labels:\n${all}    z: b\n`, '  labels:\n    <<: <labels of web>\n    z: b\n'],
  ])('labels are abbreviated: %s', (_name, full, abbreviated) => {
    expect(abbreviateLabels(full)).toBe(abbreviated)
    expect(expandLabels(abbreviated)).toBe(full)
  })

  test.each([
    ['another value', all.replace('managed-by: devctl', 'managed-by: helm')],
    ['another application', all.replaceAll(': app\n', ': shop\n')],
    ['two services', all.replace('name: web', 'name: db')],
    ['a label too few', all.replace(/.*part-of.*\n/, '')],
  ])('other labels stay as they are: %s', (_name, labels) => {
    const abbreviated = abbreviateLabels(`  labels:\n${labels}`)
    expect(abbreviated).not.toContain('<labels of web>')
    expect(expandLabels(abbreviated)).toBe(`  labels:\n${labels}`)
  })
})

/**
 * The service that an object belongs to, by the source in its first line; undefined for what belongs to the
 * application.
 */
function serviceOf({ text, object }: RenderedDocument, { name }: Case): string | undefined {
  const exception = SERVICES[name]?.[object.metadata.name]
  if (exception !== undefined) return exception ?? undefined
  const service = /^# .*#(?:services|jobs)\.([^.\s]+)/.exec(text)?.[1]
  return service === undefined ? undefined : toDnsLabel(service)
}

function standardOf(labels: Labels = {}): Labels {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => STANDARD.includes(key)))
}

/** The labels of the Pods that a workload makes; undefined for other kinds. */
function podTemplate({ spec }: KubernetesObject): Labels | undefined {
  const { template } = (spec ?? {}) as { template?: { metadata?: { labels?: Labels } } }
  return template && (template.metadata?.labels ?? {})
}
