import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { builtInKind } from '../../../adapters/kubernetes/built-in-kinds.ts'
import { toManifests } from '../../../constructs/index.ts'
import { keysWithoutPlace, orderOfItems } from '../../../constructs/key-order.ts'
import { isRoute, isWorkload, KINDS, type Kind, podSelectorOf } from '../../../constructs/kinds.ts'
import type { KubernetesObject } from '../../../constructs/manifest.ts'
import { serviceOf } from '../../../environment/plan/desired-state.ts'
import { manifestsOf } from '../../../environment/plan/part.ts'
import { withLabels } from '../../../gitops/repository/layout/label-transformer.ts'
import { goldenCases, root } from '../../support/cases.ts'
import { everything } from '../../support/constructs/everything.ts'
import { expectedDocuments } from '../../support/documents.ts'
import { KINDS as MEMORY_KINDS } from '../../support/memory-cluster/kinds.ts'
import { deploy, NAMESPACE, newCluster, object, wanted } from '../../support/objects/deploying.ts'

/**
 * Checks everything that knows kinds by name besides the table of constructs/kinds.ts. Each message names the file to
 * edit and what to write there.
 */

const cases = goldenCases()
  .filter(({ command }) => command === 'render')
  .map(one => ({ name: one.name, objects: expectedDocuments(one).map(({ object }) => object) }))
/** False for cases with objects of `x-kubernetes`, which may be of any kind and belong to no service. */
const isPlanned = ({ name }: { readonly name: string }) => !name.startsWith('kubernetes/objects-')
const objects = [...cases.flatMap(one => one.objects), ...toManifests(everything).map(({ object }) => object)]

/** The groups of custom resources, whose plurals are requested from the cluster. */
const CUSTOM = ['external-secrets.io', 'gateway.networking.k8s.io']

const groupOf = ({ apiVersion }: Pick<Kind, 'apiVersion'>) =>
  apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
const isCustom = (kind: Kind) => CUSTOM.includes(groupOf(kind))
const textOf = ({ apiVersion, kind }: { apiVersion: string; kind: string }) => `${apiVersion} ${kind}`
const pluralOf = ({ apiVersion, kind }: Kind) => builtInKind(apiVersion, kind)?.name ?? `${kind.toLowerCase()}s`

test('the table has exactly the kinds of the golden cases', () => {
  const made = new Set(cases.filter(isPlanned).flatMap(one => one.objects.map(textOf)))
  const listed = new Set(KINDS.map(textOf))
  expect(
    [...made].filter(kind => !listed.has(kind)),
    'constructs/kinds.ts does not list these kinds: each needs a row at its place in a deploy',
  ).toEqual([])
  expect(
    [...listed].filter(kind => !made.has(kind)),
    'golden/compose has no case with these kinds of constructs/kinds.ts',
  ).toEqual([])
})

describe.each(KINDS.map(kind => [kind.kind, kind] as const))('%s', (name, kind) => {
  test('the plural of a kind that most applications have is known without a request', () => {
    if (isCustom(kind) || kind.isExtra) return
    expect(
      builtInKind(kind.apiVersion, name),
      `adapters/kubernetes/built-in-kinds.ts does not list ${textOf(kind)} (or add its group to CUSTOM in this test)`,
    ).toBeDefined()
  })

  test('the cluster of the tests knows the kind', () => {
    if (isCustom(kind)) return
    expect(
      MEMORY_KINDS.find(one => textOf(one) === textOf(kind))?.name,
      `test/support/memory-cluster/kinds.ts does not list ${textOf(kind)} with the plural ${pluralOf(kind)}`,
    ).toBe(pluralOf(kind))
  })

  test('a deploy without the object deletes it, unless it holds data', async () => {
    const cluster = newCluster()
    // The test above reports a kind that is missing there.
    if (isCustom(kind) || !MEMORY_KINDS.some(one => textOf(one) === textOf(kind)))
      cluster.register({ ...kind, name: pluralOf(kind), namespaced: true, hasStatus: false })
    const { metadata, ...fields } = objects.find(one => textOf(one) === textOf(kind))!
    await deploy(cluster, wanted([{ ...fields, metadata: object(name, metadata.name).metadata }]))
    await deploy(cluster, wanted())
    const left = await cluster.get({ ...kind, name: metadata.name, namespace: NAMESPACE })
    expect(left !== undefined).toBe(name === 'PersistentVolumeClaim')
  })

  test('docs/deploy.md lists the rights to the kind', () => {
    const rows = rightsRows.filter(row => row.resources.get(groupOf(kind))?.has(pluralOf(kind)))
    const right = `${groupOf(kind) && `\`${groupOf(kind)}\`: `}\`${pluralOf(kind)}\``
    expect(rows.length, `docs/deploy.md, "Rights": the table does not list ${right}`).toBe(1)
    expect(rows[0]!.verbs).toBe('get, list, watch, create, update, patch, delete')
    expect(
      rows[0] !== rightsRows[0],
      `docs/deploy.md has ${right} in the ${kind.isExtra ? 'first row, but' : 'row of its own, but not'} \`isExtra\` in constructs/kinds.ts`,
    ).toBe(kind.isExtra ?? false)
  })

  test('labels get into the selector of the kind as kustomize writes them', () => {
    const { podSelector } = kind
    if (podSelector === undefined) return
    const object = { ...kind, metadata: { name: 'app' }, spec: { [podSelector]: { matchLabels: { a: 'b' } } } }
    expect(
      withLabels(object, [{ pairs: { c: 'd' }, includeSelectors: true }])['spec'],
      `gitops/repository/layout/label-transformer.ts writes no labels into \`spec.${podSelector}\` of ${name}`,
    ).toEqual({ [podSelector]: { matchLabels: { a: 'b', c: 'd' } } })
  })
})

test('every key of a map or a list has a place in the reading order', () => {
  const missing = new Set<string>()
  const walk = (value: unknown, under: string, kind: string): void => {
    if (Array.isArray(value)) for (const item of value) walk(item, orderOfItems(under), kind)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return
    // Manifests are JSON.
    const map = value as Readonly<Record<string, unknown>>
    if (Object.keys(map).length > 1)
      for (const key of keysWithoutPlace(map, under))
        missing.add(
          `constructs/key-order.ts has no place for \`${key}\` of ${kind}: add it under \`${under || "''"}\`, or add \`${under}\` to \`freeMaps\` if its keys are names, not fields`,
        )
    for (const [key, child] of Object.entries(map)) walk(child, key, kind)
  }
  for (const object of objects) walk(object, '', object.kind)
  expect([...missing]).toEqual([])
})

test('a deploy that names all services includes every object', () => {
  const lost = cases.filter(isPlanned).flatMap(({ name, objects }) => {
    const services = new Set(objects.flatMap(object => serviceOf(object) ?? []))
    const part = manifestsOf(
      objects.map(object => ({ object, folder: '', source: '' })),
      services,
    )
    const kept = new Set(part.map(({ object }) => object))
    return objects.filter(object => !kept.has(object)).map(({ kind }) => `${kind} in ${name}`)
  })
  expect(
    lost,
    'a deploy of some services leaves these objects out even if all services are named: a kind that selects Pods needs `podSelector` in constructs/kinds.ts, one that Pods name a line in environment/plan/references.ts, and one for the whole namespace a rule in environment/plan/part.ts (in a deploy and in a destroy of some services)',
  ).toEqual([])
})

test('the table names the selector of every kind that selects Pods', () => {
  const selecting = ({ kind, ...object }: KubernetesObject) => {
    const spec = (object['spec'] ?? {}) as Readonly<Record<string, { readonly matchLabels?: unknown } | undefined>> // its spec
    return ['podSelector', 'selector'].find(field => spec[field]?.matchLabels !== undefined)
  }
  const wrong = objects
    .filter(object => !isWorkload(object) && !isRoute(object) && selecting(object))
    .filter(object => podSelectorOf(object) !== selecting(object))
    .map(object => `constructs/kinds.ts: the row of ${object.kind} lacks podSelector: '${selecting(object)}'`)
  expect([...new Set(wrong)]).toEqual([])
})

/** The rows of the table of rights: the resources by API group, and the verbs. */
const rightsRows = tableOfRights(readFileSync(join(root, 'docs/deploy.md'), 'utf8'))

function tableOfRights(docs: string) {
  const table = docs.slice(docs.indexOf('| resources | verbs |')).split('\n\n', 1)[0]!
  return table
    .split('\n')
    .slice(2)
    .map(row => {
      const [, cell, verbs] = row.split('|').map(text => text.trim())
      const resources = new Map<string, Set<string>>()
      for (const part of cell!.split(';')) {
        const [, group = '', names] = part.trim().match(/^(?:`([^`]+)`: )?(.*)$/)!
        resources.set(group, new Set([...names!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!)))
      }
      return { resources, verbs }
    })
}
