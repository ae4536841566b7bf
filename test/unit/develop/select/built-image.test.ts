import { expect, test } from 'vitest'
import { SourceFile } from '../../../../compiler/text/source.ts'
import { withBuiltImages } from '../../../../develop/select/built-image.ts'

const span = { file: new SourceFile('okteto.yml', 'image'), start: 0, end: 5 }

/** Returns the image of a development container `my-api` after its variable was resolved. */
function imageOf(value: string, { hasOriginal = true, env = {} } = {}): string | undefined {
  const found = { development: { name: 'my-api', span, image: { value, span }, services: [] } }
  return withBuiltImages(found as never, hasOriginal, env).development.image?.value
}

test('the variable of its own build gives a development container the image of its workload', () => {
  expect(imageOf(`\${DEVCTL_BUILD_MY_API_IMAGE}`)).toBeUndefined()
  expect(imageOf(`\${OKTETO_BUILD_MY_API_IMAGE}`)).toBeUndefined()
  expect(imageOf('node:22')).toBe('node:22')
})

test('the variable of another build comes from the shell, or is refused', () => {
  const env = { OKTETO_BUILD_BASE_IMAGE: 'r.example.com/base:1' }
  expect(imageOf(`\${DEVCTL_BUILD_BASE_IMAGE}`, { env })).toBe('r.example.com/base:1')
  expect(() => imageOf(`\${DEVCTL_BUILD_BASE_IMAGE}`)).toThrow('which `up` does not know')
  expect(() => imageOf(`\${DEVCTL_BUILD_MY_API_IMAGE}`, { hasOriginal: false })).toThrow('which `up` does not know')
})
