import { expect, test } from 'vitest'
import { KnownSecrets } from '../../../../../compiler/values/secrets/known-secrets.ts'

test.each([
  'https://acme-web.example.com',
  'https://web.acme.example.com/x',
  'http://acme:8080/',
  'http://localhost/acme',
  'registry.example.com/acme/web:1',
  'web:acme@sha256:0123',
  'acme@example.com',
  'namespace/acme-staging',
  'acme_data',
  '/srv/acme/data',
  'x-acme',
  'acme2',
])('a short secret that is a part of a name is not masked: %s', text => {
  expect(new KnownSecrets(['acme']).mask(text)).toBe(text)
  expect(new KnownSecrets(['acme1']).mask(text.replaceAll('acme', 'acme1'))).toBe(text.replaceAll('acme', 'acme1'))
})

test.each([
  'acme',
  'password=acme',
  'AWS_SECRET_ACCESS_KEY: acme',
  '--password acme',
  '--password=acme --user app',
  'mysql -pacme',
  '"acme"',
  `'acme'`,
  '{"key":"acme"}',
  '"{\\"key\\":\\"acme\\"}"',
  'the key is acme.',
  'the key acme: refused',
  'https://web.example.com/?token=acme&x=1',
  'postgres://app:acme@db/x',
  'redis://:acme@cache',
  'app:acme@tcp(db)/x',
  'curl -u admin:acme http://x',
  'admin:acme',
  'https://acme@git.example.com/x',
])('a short secret that is all of a value is masked: %s', text => {
  expect(new KnownSecrets(['acme']).mask(text)).toBe(text.replace('acme', '***'))
  expect(new KnownSecrets(['acme1']).mask(text.replace('acme', 'acme1'))).toBe(text.replace('acme', '***'))
})

test('only the password is masked where the user and the host have the same text', () => {
  expect(new KnownSecrets(['acme']).mask('postgres://acme:acme@acme-db/acme')).toBe('postgres://acme:***@acme-db/acme')
})

test('other secrets are masked everywhere, and maskStrictly masks all secrets', () => {
  expect(new KnownSecrets(['s3cr3t']).mask('https://s3cr3t-web')).toBe('https://***-web')
  expect(new KnownSecrets(['longersecret']).mask('https://longersecret-web')).toBe('https://***-web')
  expect(new KnownSecrets(['acme']).maskStrictly('https://acme-web')).toBe('https://***-web')
  expect(new KnownSecrets(['acme1']).maskStrictly('https://acme1-web')).toBe('https://***-web')
})
