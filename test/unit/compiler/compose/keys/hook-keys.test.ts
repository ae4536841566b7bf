import { expect, test } from 'vitest'
import { serviceKeys } from '../../../../../compiler/compose/keys/service.ts'
import { renderedWith, saysMore, serviceValue } from './key-samples.ts'

/**
 * Checks that each key of a service, set in a `pre_start` hook, changes the init container or is reported. A key of the
 * dialect that is not among the container keys would be taken for an extension, and dropped silently.
 */
const keys = Object.keys(serviceKeys).flatMap(key => {
  const found = serviceValue(key)
  return found ? [[key, found] as const] : []
})

test.each(keys)('%s in a pre_start hook changes the manifests or is reported', (key, { sample, value }) => {
  const hook = { image: 'tool:1', command: ['prepare'] }
  const withHook = (hook: object) => renderedWith(sample, { hooked: { image: 'nginx:1', pre_start: [hook] } })
  const [plain, changed] = [withHook({ image: 'tool:1', command: ['prepare'] }), withHook({ ...hook, [key]: value })]
  expect(
    plain.objects !== changed.objects || saysMore(changed, plain),
    `\`${key}\` in a pre_start hook is dropped silently: move its row to the container keys (keys/image.ts, isolation.ts, …)`,
  ).toBe(true)
})

test('every `x-` key of a service is tried in a hook', () => {
  const tried = new Set<string>(keys.map(([key]) => key))
  const extensions = Object.keys(serviceKeys).filter(key => key.startsWith('x-'))
  expect(extensions.filter(key => !tried.has(key))).toEqual([])
})
