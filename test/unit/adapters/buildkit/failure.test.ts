import { Metadata, type ServiceError } from '@grpc/grpc-js'
import { expect, test } from 'vitest'
import { registryError } from '../../../../adapters/buildkit/engine/push.ts'
import { BuildFailure, solveError } from '../../../../adapters/buildkit/failure.ts'

const UNKNOWN = 2
const UNAVAILABLE = 14

/** Returns the error for a solve that failed, without details about a step. */
const meaning = (details: string, code = UNKNOWN) =>
  solveError({ code, details, metadata: new Metadata() } as ServiceError, 'BuildKit', undefined)

const push = (text: string) => `failed to push registry.example.com:443/x:1: ${text}`

test.each([
  [push('unexpected status from HEAD request to http://127.0.0.1:5000/v2/x: 503 Service Unavailable'), true],
  [push('unexpected status from PUT request to https://r.example.com/v2/404/x: 500 Internal Server Error'), true],
  [push('unexpected status from POST request to https://r.example.com/v2/x: 429 Too Many Requests'), true],
  [push('unexpected status code 502'), true],
  [
    push('failed to do request: Head "http://127.0.0.1:1/v2/x": dial tcp 127.0.0.1:1: connect: connection refused'),
    true,
  ],
  [push('unexpected status from HEAD request to http://127.0.0.1:5000/v2/x: 403 Forbidden'), false],
  [push('push access denied, repository does not exist or may require authorization'), false],
  [push('failed to do request: Head "https://r/v2/x": dial tcp: lookup r: no such host'), false],
])('the push failure %s is transient: %s', (details, isTransient) => {
  expect(meaning(details)).toMatchObject({ kind: 'registry', isTransient })
})

test.each([
  ['Connection dropped', UNAVAILABLE],
  ['read ECONNRESET', UNAVAILABLE],
  ['Received RST_STREAM with code 2', 13],
  ['no active session for abc: context deadline exceeded', UNKNOWN],
  ['error reading from server: EOF', UNKNOWN],
])('%s is a lost connection', (details, code) => {
  expect(meaning(details, code)).toMatchObject({ kind: 'lost', isTransient: true })
})

test('a builder that refuses connections is reported in few words', () => {
  const details = 'No connection established. Last error: Error: connect ECONNREFUSED 127.0.0.1:1234. Resolution note: '
  expect(meaning(details, UNAVAILABLE).message).toBe('the connection to BuildKit was lost: nothing listens there')
})

test('any other response is reported as a refusal', () => {
  expect(meaning('granting entitlement network.host is not allowed')).toMatchObject({
    kind: 'refused',
    isTransient: false,
    message: 'BuildKit does not accept the build: granting entitlement network.host is not allowed',
  })
})

test('a failed step of Docker 20.10 is a failure of the build', () => {
  const failure = meaning('executor failed running [/bin/sh -c curl x]: exit code: 7')
  expect(failure).toBeInstanceOf(BuildFailure)
  expect(failure).toMatchObject({ exitStatus: 7, isTransient: false })
})

test.each([
  ['received unexpected HTTP status: 503 Service Unavailable', true],
  ['toomanyrequests: slow down', true],
  ['denied: requested access to the resource is denied', false],
  ['unauthorized: authentication required', false],
  ['error parsing HTTP 429 response body: no error details found in HTTP response body: "{}"', true],
  ['error parsing HTTP 403 response body: unexpected end of JSON input: ""', false],
  ['read tcp 127.0.0.1:37770->127.0.0.1:46853: read: connection reset by peer', true],
])('registryError recognizes the push failure of an engine: %s', (text, isTransient) => {
  expect(registryError('x:1', text)).toMatchObject({ kind: 'registry', isTransient })
})

test.each([
  [
    push('unexpected status from HEAD request to http://r.example.com/v2/x/blobs/sha256:1: 401 Unauthorized'),
    'failed to push registry.example.com:443/x:1: the registry answers 401 Unauthorized',
  ],
  [
    push(
      'failed to do request: Head "http://r:1/v2/x": read tcp 10.0.0.1:4->10.0.0.2:1: read: connection reset by peer',
    ),
    'failed to push registry.example.com:443/x:1: connection reset by peer',
  ],
  [
    push('failed to do request: Head "https://r/v2/x": dial tcp: lookup r: no such host'),
    'failed to push registry.example.com:443/x:1: lookup r: no such host',
  ],
])('the message of %s has no addresses of blobs', (details, text) => {
  expect(meaning(details).message).toBe(text)
})

test.each([
  ['the Dockerfile (Dockerfile) cannot be empty', 1],
  ['the Dockerfile cannot be empty', 1],
  ['target stage "nope" could not be found (did you mean one?)', undefined],
])('%s is a failure of the Dockerfile, not of the builder', (details, line) => {
  const failure = meaning(`failed to solve: ${details}`, 2)
  expect(failure).toBeInstanceOf(BuildFailure)
  expect((failure as BuildFailure).place?.start).toBe(line)
})
