import { expect, test } from 'vitest'
import { readSettings } from '../../platform/server/settings.ts'

const good = {
  domain: 'dev.example.com',
  url: 'https://p.example.com',
  kubernetes: { server: 'https://k.example.com' },
}

test('settings have defaults', () => {
  expect(readSettings(JSON.stringify(good))).toEqual({ ...good, namespacesPerUser: 5 })
})

test.each([
  [{ domain: '' }, '`domain` is no text'],
  [{ url: 1 }, '`url` is no text'],
  [{ kubernetes: null }, '`kubernetes.server` is no text'],
  [{ kubernetes: { server: 'https://k', ca: 1 } }, '`kubernetes.ca` is no text'],
  [{ namespacesPerUser: -1 }, '`namespacesPerUser` is no number of namespaces'],
])('%j is refused', (wrong, message) => {
  expect(() => readSettings(JSON.stringify({ ...good, ...wrong }))).toThrow(message)
})
