import { expect, test } from 'vitest'
import { serviceKeys } from '../../../../../compiler/compose/keys/service.ts'
import { renderedWith, saysMore, serviceValue } from './key-samples.ts'

/**
 * A `pre_start` hook with a key of a service: the key has an effect on the init container, or it is
 * reported. A key of the dialect that is not among the container keys would be taken for an
 * extension, and dropped silently.
 */
const keys = Object.keys(serviceKeys).flatMap(key => {
  const found = serviceValue(key)
  return found ? [[key, found] as const] : []
})

test.each(keys)('%s', (key, { sample, value }) => {
  const hook = { image: 'tool:1', command: ['prepare'] }
  const withHook = (hook: object) => renderedWith(sample, { hooked: { image: 'nginx:1', pre_start: [hook] } })
  const [plain, changed] = [withHook({ image: 'tool:1', command: ['prepare'] }), withHook({ ...hook, [key]: value })]
  expect(
    plain.objects !== changed.objects || saysMore(changed, plain),
    `\`${key}\` in a pre_start hook is dropped silently: move its row to the container keys (keys/image.ts, isolation.ts, …)`,
  ).toBe(true)
})

test('the keys of the dialect are tried', () => {
  const tried = new Set<string>(keys.map(([key]) => key))
  const extensions = Object.keys(serviceKeys).filter(key => key.startsWith('x-'))
  expect(extensions.filter(key => !tried.has(key))).toEqual([])
})
