import { expect, test } from 'vitest'
import { HELPER_IMAGES } from '../../../compiler/values/images/helper-images.ts'
import { helperImage } from '../../../project/base-registry.ts'

const of = (env: Readonly<Record<string, string>>, platform?: string) => ({
  cwd: '/work',
  env,
  ...(platform !== undefined && { platformVariables: new Map([['DEVCTL_BASE_REGISTRY', platform]]) }),
})

test('the images that devctl adds to Pods come from DEVCTL_BASE_REGISTRY', () => {
  const copies = [
    'r.internal/base/library/busybox:1.37',
    'r.internal/base/kubectl:v1.34.2',
    'r.internal/base/library/node:22-alpine',
  ]
  const own = of({ DEVCTL_BASE_REGISTRY: 'r.internal/base' }, 'other.internal')
  expect(HELPER_IMAGES.map(image => helperImage(own as never, image))).toEqual(copies)
  const ofPlatform = of({}, 'r.internal/base')
  expect(HELPER_IMAGES.map(image => helperImage(ofPlatform as never, image))).toEqual(copies)
  expect(HELPER_IMAGES.map(image => helperImage(of({}) as never, image))).toEqual(HELPER_IMAGES)
})

test('a DEVCTL_BASE_REGISTRY that is no registry is refused', () => {
  const wrong = of({ DEVCTL_BASE_REGISTRY: 'https://r.internal' })
  expect(() => helperImage(wrong as never, 'busybox:1.37')).toThrow('`DEVCTL_BASE_REGISTRY` is `https://r.internal`')
})
