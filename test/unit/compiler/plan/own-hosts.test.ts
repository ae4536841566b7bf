import { describe, expect, test } from 'vitest'
import { makeFolder } from '../../../support/cli/folder.ts'
import { run } from '../../../support/run.ts'

const COMPOSE = `services:
  web: {image: nginx, ports: [{target: 80, published: "8080", x-host: port.example.com}]}
  api: {image: nginx, ports: ["81:80"]}
endpoints:
  shop: {host: shop.example.com, rules: [{path: /, service: web, port: 80}]}
`
const render = (...words: string[]) => run(['render', ...words], { cwd: makeFolder({ 'compose.yaml': COMPOSE }) })
const hostsIn = (text: string) => [...text.matchAll(/^ +- host: (.+)$/gm)].map(([, host]) => host).sort()

describe('custom hosts', () => {
  test('custom hosts need no domain; other routes get the placeholder, with a warning', async () => {
    const { stdout, stderr } = await render('--namespace', 'shop')
    expect(hostsIn(stdout)).toEqual(['api-shop.local.devctl', 'port.example.com', 'shop.example.com'])
    expect(stderr).toContain('routes/no-domain')
  })

  test('custom hosts are added to the generated hosts', async () => {
    const { stdout } = await render('--namespace', 'shop', '--domain', 'dev.example.com')
    expect(hostsIn(stdout)).toEqual([
      ...['api-shop.dev.example.com', 'port.example.com', 'shop-shop.dev.example.com', 'shop.example.com'],
      'web-shop.dev.example.com',
    ])
  })
})
