import { expect, test } from 'vitest'
import { parseBuilderAddress } from '../../../../adapters/buildkit/address.ts'
import { UserError } from '../../../../compiler/diagnostics/user-error.ts'

test.each([
  ['tcp://builder:1234', 'dns:///builder:1234', false],
  ['tcp://builder', 'dns:///builder:1234', false],
  ['builder:8080', 'dns:///builder:8080', false],
  ['builder', 'dns:///builder:1234', false],
  ['TCP://10.0.0.1:1/', 'dns:///10.0.0.1:1', false],
  ['tcp://[::1]:1234', 'dns:///[::1]:1234', false],
  ['[::1]', 'dns:///[::1]:1234', false],
  ['tls://builder', 'dns:///builder:1234', true],
  ['https://builder.example.com', 'dns:///builder.example.com:443', true],
  ['https://builder.example.com:8443/', 'dns:///builder.example.com:8443', true],
  ['unix:///run/buildkit/buildkitd.sock', 'unix:/run/buildkit/buildkitd.sock', false],
  ['unix:/run/b.sock', 'unix:/run/b.sock', false],
])('parseBuilderAddress accepts %s', (text, target, isSecure) => {
  expect(parseBuilderAddress(text)).toMatchObject({ text, target, isSecure })
})

test.each([
  '',
  'tcp://',
  'tcp://:1234',
  'host:99999',
  'host:port',
  'tcp://host/path',
  'tcp://[x]:1',
  'tcp://user@host:1',
  'unix://relative.sock',
  'docker-container://x',
  'http://x',
  'a b',
])('parseBuilderAddress refuses %j', text => {
  expect(() => parseBuilderAddress(text)).toThrow(UserError)
})
