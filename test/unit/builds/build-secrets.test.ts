import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { secretsInText, secretsOfInput } from '../../../builds/build-secrets.ts'
import { maskLogins } from '../../../compiler/values/images/build-context.ts'
import { KnownSecrets } from '../../../compiler/values/secrets/known-secrets.ts'
import { imageInput } from '../../support/buildkit/input.ts'

test('the secrets in the input of a build are masked', () => {
  const input = imageInput({
    context: { remote: 'https://me:s3cr%2Ft@git.example.com/r.git' },
    contexts: new Map([['more', { remote: 'https://ghtoken123@git.example.com/r.git' }]]),
    args: new Map([
      ['API_TOKEN', 'literal-token'],
      ['GREETING', 'good morning'],
    ]),
    secrets: new Map([
      ['a', { value: 'value-of-a' }],
      ['b', { file: '/run/b' }],
    ]),
    cacheTo: [{ type: 's3', attributes: { bucket: 'the-bucket', secret_access_key: 'key-of-cache' } }],
  })
  const secrets = new KnownSecrets(secretsOfInput(input))
  const text = 'literal-token good morning value-of-a s3cr%2Ft s3cr/t ghtoken123 the-bucket key-of-cache'
  expect(secrets.mask(text)).toBe('*** good morning *** *** *** *** the-bucket ***')
})

test('each line of a secret is masked, and so is a value that a line sets', () => {
  const { privateKey } = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  const [, line = ''] = privateKey.split('\n')
  const text = `${privateKey}\n//r.example.com/:_authToken=npm-abcdef\n"auth": "dXNlcjpwYXNz",\npassword: 'letter-12'\nno\n`
  const secrets = new KnownSecrets(secretsInText(text))
  for (const secret of [line, 'npm-abcdef', 'dXNlcjpwYXNz', 'letter-12'])
    expect(secrets.mask(`it is ${secret} here`)).toBe('it is *** here')
  expect(secrets.mask('no auth')).toBe('no auth')
})

test.each([
  ['load git source http://user:pass@host/r.git#main', 'load git source http://***@host/r.git#main'],
  ['https://token@host:8080/a and https://u:p@ss@h/b', 'https://***@host:8080/a and https://***@h/b'],
  ['ssh://git@host/r.git ssh://git:pw@host/r.git', 'ssh://git@host/r.git ssh://git:***@host/r.git'],
  ['https://host/a@b http://host:80/x', 'https://host/a@b http://host:80/x'],
])('maskLogins masks the logins in URLs: %s', (text, masked) => expect(maskLogins(text)).toBe(masked))
