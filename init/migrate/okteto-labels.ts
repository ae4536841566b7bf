import { entries } from '../../compiler/compose/read/tree-values.ts'
import { equivalentOf } from '../../compiler/plan/labels/foreign-families.ts'
import { get, isMap, isScalar, type MapTree } from '../../compiler/text/tree.ts'
import { type ComposeEdits, labelledServices } from './compose-labels.ts'

const LABEL = 'dev.okteto.com/'
const KEY = /^x-okteto-(?=(?:readiness|liveness)$)/

/** Converts labels and keys of Okteto in a Compose file. Returns true if the file contains such labels or keys. */
export function convertOkteto(model: MapTree, edits: ComposeEdits): boolean {
  let isFound = false
  for (const { name: service, tree, labels } of labelledServices(model))
    for (const label of labels.filter(({ name }) => name.startsWith(LABEL))) {
      isFound = true
      const key = `dev.platform/${label.name.slice(LABEL.length)}`
      const path = ['services', service, 'labels']
      if (!/\/(?:update|policy)$/.test(key)) {
        const equivalent = equivalentOf(label)
        edits.lose(label, 'devctl has no such label', equivalent && `use ${equivalent}`)
      } else if (isMap(get(tree, 'labels'))) edits.set(label, [...path, key], label.value)
      else if (!labels.some(({ name }) => name === key)) edits.replace({ path, item: `${key}=${label.value}` })
    }
  for (const [service, { value: tree }] of entries(model, 'services')) {
    for (const [key, { key: span, value }] of entries(tree, 'healthcheck')) {
      if (!KEY.test(key) || !isScalar(value)) continue
      isFound = true
      const path = ['services', service, 'healthcheck', key.replace(KEY, 'x-platform-')]
      edits.set({ name: key, value: '', isText: true, span }, path, value.value === true)
    }
  }
  return isFound
}
