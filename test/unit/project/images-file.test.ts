import { join } from 'node:path'
import { expect, test } from 'vitest'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import { readImagesFile } from '../../../project/images-file.ts'
import { makeFolder } from '../../support/cli/folder.ts'

const digest = '0123456789abcdef'.repeat(4)

const images = (content: string) =>
  Object.fromEntries(readImagesFile(join(makeFolder({ 'm.json': content }), 'm.json'), 'm.json'))

test('a plain map and the metadata of bake are read', () => {
  expect(images(`{"web": "r/web:1", "db": "r/db@sha256:${digest}"}`)).toEqual({
    web: 'r/web:1',
    db: `r/db@sha256:${digest}`,
  })
  const bake = {
    'buildx.build.warnings': [],
    web: { 'image.name': 'r/web:1,r/web:latest', 'containerimage.digest': `sha256:${digest}`, 'buildx.build.ref': 'x' },
    api: { 'image.name': 'r/api:1' },
    unnamed: { 'containerimage.digest': `sha256:${digest}` },
  }
  expect(images(JSON.stringify(bake))).toEqual({ web: `r/web:1@sha256:${digest}`, api: 'r/api:1' })
})

test.each([
  ['{', '`m.json` cannot be read: it is not valid JSON'],
  ['[]', '`m.json` cannot be read: it must be an object'],
  ['{"web": 8080}', '`m.json` cannot be read: `web` must be a string, an object or an array'],
  ['{"web": {"image.name": ["r/web:1"]}}', '`m.json` cannot be read: `web["image.name"]` must be a string'],
  [
    '{"web": {"image.name": "r/web:1", "containerimage.digest": null}}',
    '`web["containerimage.digest"]` must be a string',
  ],
  ['{}', 'names no image'],
  ['{"web": "Web:1"}', '`m.json` gives `web` the image `Web:1`: `Web` is not a valid image name'],
  ['{"web": ""}', 'gives `web` the image ``: it is empty'],
])('%s is refused', (content, message) => {
  expect(() => images(content)).toThrow(UserError)
  expect(() => images(content)).toThrow(message)
})

test('a missing file is refused', () =>
  expect(() => readImagesFile('/none/such', 'such')).toThrow('`such` does not exist'))
