import { expect, test } from 'vitest'
import { readManifest } from '../../../../compiler/manifest/read.ts'
import { createHost } from '../../../../project/node-host.ts'
import { makeFolder } from '../../../support/cli/folder.ts'

/** The first additional container of an Okteto manifest, and the messages about it. */
function serviceOf(keys: string, build = '') {
  const dev = `dev: {api: {sync: [".:/app"], services: [{name: worker, sync: [".:/app"], ${keys}}]}}`
  const folder = makeFolder({ 'okteto.yml': `${build}${dev}\n` })
  const { manifest, diagnostics } = readManifest(
    { path: `${folder}/okteto.yml`, workingDirectory: folder },
    createHost({ env: {} }),
  )
  const [service] = manifest?.dev.get('api')?.services ?? []
  return { service, codes: diagnostics.map(({ code }) => code) }
}

test('an image of an Okteto registry in an additional container is the built image', () => {
  const { service, codes } = serviceOf('image: "okteto.dev/api:1"', 'build: {api: {image: "okteto.dev/api:1"}}\n')
  expect(service?.image?.value).toBe('${DEVCTL_BUILD_API_IMAGE}')
  expect(codes).toEqual(['okteto/image'])
})

test('another image of an Okteto registry in an additional container is reported and left out', () => {
  const { service, codes } = serviceOf('image: "okteto.global/x:1"')
  expect(service?.image).toBeUndefined()
  expect(codes).toEqual(['okteto/image'])
})

test('the old name `labels` in an additional container is read as `selector`', () => {
  const { service, codes } = serviceOf('labels: {app: worker}')
  expect(service?.selector.map(({ name, value }) => [name, value])).toEqual([['app', 'worker']])
  expect(codes).toEqual(['okteto/old-name'])
})
