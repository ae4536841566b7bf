import { describe, expect, test } from 'vitest'
import { proxyFor } from '../../../../adapters/http/proxy.ts'

const PROXY = 'http://proxy.example.com:3128'

const through = (server: string, env: Readonly<Record<string, string>>) =>
  proxyFor(new URL(server), { HTTPS_PROXY: PROXY, ...env })

describe('proxyFor', () => {
  test('proxyFor reads the variable of the scheme in either case and adds a missing `http://`', () => {
    const server = 'https://registry.example.com'
    expect(proxyFor(new URL(server), {})).toBeUndefined()
    expect(proxyFor(new URL(server), { HTTP_PROXY: PROXY })).toBeUndefined()
    expect(proxyFor(new URL(server), { https_proxy: 'proxy.example.com:3128' })).toBe(PROXY)
    expect(proxyFor(new URL(server), { HTTPS_PROXY: PROXY, https_proxy: 'http://other' })).toBe(PROXY)
    expect(proxyFor(new URL('http://registry.example.com'), { HTTP_PROXY: PROXY })).toBe(PROXY)
  })

  test.each(['localhost:5000', '127.0.0.1:5000', '127.1.2.3', '[::1]:5000', 'LOCALHOST'])(
    'proxyFor finds no proxy for this machine: %s',
    host => expect(through(`https://${host}`, {})).toBeUndefined(),
  )

  test.each<[string, string, boolean]>([
    ['registry.example.com', 'registry.example.com', false],
    ['registry.example.com', 'Registry.Example.com , other', false],
    ['registry.example.com', 'example.com', false],
    ['registry.example.com', '.example.com', false],
    ['registry.example.com', '*.example.com', false],
    ['registry.example.com', '*', false],
    ['registryexample.com', 'example.com', true],
    ['registry.example.com', '', true],
    ['registry.example.com', ',', true],
    ['registry.example.com', 'registry.example.com:443', false],
    ['registry.example.com:5000', 'registry.example.com:5000', false],
    ['registry.example.com:5000', 'registry.example.com', false],
    ['registry.example.com', 'registry.example.com:5000', true],
    ['10.1.2.3', '10.0.0.0/8', false],
    ['10.1.2.3', '10.1.2.3', false],
    ['11.1.2.3', '10.0.0.0/8', true],
    ['registry.example.com', '10.0.0.0/8', true],
    ['10.1.2.3', '10.0.0.0/99', true],
    ['10.1.2.3', '10.0.0.0/', true],
    ['example.com', '.example.com', true],
    ['example.com', '*.example.com', true],
    ['[fd00::1]:6443', 'fd00::/8', false],
    ['[fd00::1]:6443', 'fe80::/10', true],
    ['[fd00::1]:6443', '[fd00::1]', false],
    ['[fd00::1]:6443', '[fd00::1]:6443', false],
    ['[fd00::1]:6443', '[fd00::1]:443', true],
    ['[fd00::1]:6443', 'fd00:0::1', false],
    ['10.1.2.3:6443', '10.1.2.3:443', true],
  ])('a proxy is used for %s with NO_PROXY=%s: %s', (host, NO_PROXY, isUsed) =>
    expect(through(`https://${host}`, { NO_PROXY })).toBe(isUsed ? PROXY : undefined),
  )

  test.each([
    ['registry.example.com:80', false],
    ['registry.example.com:443', true],
  ])('a port in NO_PROXY=%s is compared with the port of http: %s', (NO_PROXY, isUsed) =>
    expect(through('http://registry.example.com', { HTTP_PROXY: PROXY, NO_PROXY })).toBe(isUsed ? PROXY : undefined),
  )
})
