import { describe, expect, test } from 'vitest'
import { makeFolder } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'

// Names that the API server would refuse are refused before anything is done, with the position of the name.

const COMPOSE = 'name: shop\nservices:\n  web: {image: nginx, environment: {A: b}, ports: ["8080:80"]}\n'
const long = (length: number) => 'a'.repeat(length)
const badNames = ['x_y', 'X', '-x', 'x-', 'a..b', ' ', 'a b', 'x/y', long(254)]
const badLabels = [...badNames, 'a.b', long(64)]

const render = (cwd: string, ...words: readonly string[]) => run(['render', ...words], { cwd })

describe('options of the command line', () => {
  test.each([
    ['--namespace', badLabels],
    ['--domain', badNames],
    ['--ingress-class', badNames],
    ['--tls-secret', badNames],
    ['--gateway', ['x', 'x_y/z', 'infra/x_y', 'a.b/c', 'infra/', '/x', 'a/b/c', `infra/${long(254)}`]],
    ['--registry', ['x y', 'http://r.example.com', 'r.example.com:5000/x:1', 'R.example.com/Team']],
    ['--tag', ['x y', '-x', long(129)]],
    ['--image', ['web', 'web=', 'web=X Y', '=nginx']],
  ])('render refuses invalid values of %s', async (option, values) => {
    const cwd = makeFolder({ 'compose.yaml': COMPOSE })
    for (const value of values) {
      const { status, stdout, stderr } = await render(cwd, `${option}=${value}`)
      expect([status, stdout], value).toEqual([2, ''])
      expect(stderr, value).toContain(option)
    }
  })
})

describe('variables of the environment', () => {
  test.each([['DEVCTL_NAMESPACE', badLabels]])('render refuses invalid values of %s', async (name, values) => {
    const cwd = makeFolder({ 'compose.yaml': COMPOSE })
    for (const value of values) {
      const { status, stderr } = await run(['render'], { cwd, env: { [name]: value } })
      if (value.trim() === '') continue
      expect(status, value).not.toBe(0)
      expect(stderr, value).toContain(name)
    }
  })
})

describe('keys of an environment in the manifest', () => {
  const secrets = (text: string) =>
    `secrets: {backend: external, store: x, values: {services.web.environment.A: {secret: a, key: b}}, ${text}}`
  test.each([
    ['namespace', badLabels, (value: string) => `namespace: ${value}`],
    ['domain', badNames, (value: string) => `domain: ${value}`],
    ['ingressClass', badNames, (value: string) => `ingressClass: ${value}`],
    ['tlsSecret', badNames, (value: string) => `tlsSecret: ${value}`],
    ['tls.secret', badNames, (value: string) => `tls: {secret: ${value}}`],
    ['tls.issuer', badNames, (value: string) => `tls: {issuer: ${value}}`],
    ['tls.clusterIssuer', badNames, (value: string) => `tls: {clusterIssuer: ${value}}`],
    [
      'gateway',
      [
        'x',
        'x_y/z',
        'infra/x_y',
        'a.b/c',
        'infra/',
        '/x',
        'a/b/c',
        'infra-/x',
        'infra/x-',
        'infra/a..b',
        `${long(64)}/x`,
      ],
      (value: string) => `gateway: ${value}`,
    ],
    ['registry', ['x y', 'http://r.example.com', 'r.example.com:5000/x:1'], (value: string) => `registry: ${value}`],
    ['shellImage', ['X Y', 'a:b:c'], (value: string) => `shellImage: ${value}`],
    ['kubectlImage', ['X Y', 'a:b:c'], (value: string) => `kubectlImage: ${value}`],
    ['images', ['X Y', 'a:b:c'], (value: string) => `images: {web: ${value}}`],
    ['secrets.store', badNames, (value: string) => secrets('').replace('store: x', `store: ${value}`)],
    ['secrets.values', badNames, (value: string) => secrets('').replace('secret: a', `secret: ${value}`)],
  ])('render refuses invalid values of `%s`', async (_, values, line) => {
    for (const value of values) {
      const text = `environments:\n  staging:\n    ${line(JSON.stringify(value)).replace(/\{"([^"]*)": b\}/, '{$1: b}')}\n`
      const cwd = makeFolder({ 'compose.yaml': COMPOSE, 'devctl.yml': text })
      const { status, stdout, stderr } = await render(cwd, '--environment', 'staging')
      expect([status, stdout], text).toEqual([1, ''])
      expect(stderr, text).toMatch(/--> devctl\.yml:3:\d+/)
    }
  })
})

describe('names in the Compose file', () => {
  test.each([
    [
      'tls of a host',
      badNames,
      (value: string) => `endpoints: [{path: /, service: web, port: 80, host: a.example.com, tls: {secret: ${value}}}]`,
    ],
    [
      'an issuer',
      badNames,
      (value: string) => `endpoints: [{path: /, service: web, port: 80, host: a.example.com, tls: {issuer: ${value}}}]`,
    ],
    [
      'a storage class',
      badNames,
      (value: string) => `  db: {image: db, volumes: ["data:/d"]}\nvolumes: {data: {driver_opts: {class: ${value}}}}`,
    ],
    [
      'a class of load balancers',
      ['x y', '-x', 'a/b/c', long(64)],
      (value: string) =>
        `  lb: {image: db, ports: [{target: 1, published: 1, x-expose: {type: LoadBalancer, loadBalancerClass: ${value}}}]}`,
    ],
    [
      'a storage class of a volume of another driver',
      ['x_y'],
      (value: string) =>
        `  db: {image: db, volumes: ["data:/d"]}\nvolumes: {data: {driver: ceph, driver_opts: {class: ${value}}}}`,
    ],
    [
      'what only load balancers have',
      ['loadBalancerClass: example.com/x', 'sourceRanges: [10.0.0.0/8]'],
      (value: string) =>
        `  np: {image: db, ports: [{target: 1, published: 1, x-expose: {type: NodePort, ${JSON.parse(value)}}}]}`,
    ],
    ['a runtime', badNames, (value: string) => `  db: {image: db, runtime: ${value}}`],
  ])('render refuses invalid values: %s', async (_, values, line) => {
    for (const value of values) {
      if (value.trim() === '') continue
      const cwd = makeFolder({ 'compose.yaml': `${COMPOSE}${line(JSON.stringify(value))}\n` })
      const { status, stdout, stderr } = await render(cwd, '--domain', 'x.example.com')
      expect([status, stdout], `${value}\n${stderr}`).toEqual([1, ''])
      expect(stderr, value).toMatch(/--> compose\.yaml:\d:\d+/)
    }
  })
})
