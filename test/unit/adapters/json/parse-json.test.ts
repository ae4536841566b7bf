import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { parseJson } from '../../../../adapters/json/parse-json.ts'
import { artifactManifest, tokenAnswer } from '../../../../adapters/registry/answers.validators.ts'
import { dockerConfig } from '../../../../adapters/registry/docker.validators.ts'

test('parseJson returns a valid value with the type of its schema, and keeps other keys', () => {
  const read = parseJson('{"token": "abc", "expires_in": 300}', tokenAnswer)
  expect(read).toEqual({ ok: true, value: { token: 'abc', expires_in: 300 } })
  const token: string | null | undefined = read.ok ? read.value.token : undefined
  expect(token).toBe('abc')
})

test.each([
  ['', 'it is empty'],
  [' \n', 'it is empty'],
  ['\n<!DOCTYPE html><html>', 'it is a web page'],
  ['null', 'it must be an object'],
  ['[]', 'it must be an object'],
  ['{"auths": []}', '`auths` must be an object'],
  ['{"auths": {"ghcr.io": true}}', '`auths["ghcr.io"]` must be an object or `null`'],
  ['{"auths": {"a/b~c": {"auth": 1}}}', '`auths["a/b~c"].auth` must be a string'],
  ['{"auths": {"__proto__": {"auth": 1}}}', '`auths.__proto__.auth` must be a string'],
])('parseJson reports the problem of %j', (text, problem) => {
  expect(parseJson(text, dockerConfig)).toEqual({ ok: false, problem })
})

test.each([
  ['{"config": {}, "layers": []}', '`config.mediaType` is missing'],
  ['{"config": {"mediaType": "a"}, "layers": [{"mediaType": "b"}]}', '`layers[0].digest` is missing'],
  [
    '{"config": {"mediaType": "a"}, "layers": [{"mediaType": "b", "digest": "latest", "size": 1}]}',
    '`layers[0].digest` is not valid',
  ],
])('parseJson reports the problem of the manifest %s', (text, problem) => {
  expect(parseJson(text, artifactManifest)).toEqual({ ok: false, problem })
})

test.each(['{"token": "hunter2"', '{"token": "hunter2",}', 'hunter2', '{"token": ["hunter2"]}', '"hunter2"'])(
  'parseJson quotes nothing of %j',
  text => {
    const read = parseJson(text, tokenAnswer)
    expect(read.ok).toBe(false)
    expect(inspect(read)).not.toContain('hunter2')
  },
)
