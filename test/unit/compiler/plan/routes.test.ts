import { describe, expect, test } from 'vitest'
import { planOf } from '../../../support/plan/compose.ts'

const hosts = (text: string, options = {}) =>
  planOf(text, options).plan.routes.map(({ name, host }) => `${name} ${host}`)
const one = (ports: string) => planOf(`services: {web: {image: i, ports: [${ports}]}}`)

describe('public ports', () => {
  test.each([
    ['"8080:80"', ['web web-shop.dev.example.com']],
    ['"8080:80", "9090:90"', ['web web-shop.dev.example.com', 'web-90 web-90-shop.dev.example.com']],
    ['"9090:90", "8080:80"', ['web web-shop.dev.example.com', 'web-80 web-80-shop.dev.example.com']],
    ['"8080:80", "8081:80"', ['web web-shop.dev.example.com']],
    ['80', []],
    ['"0.0.0.0:8080:80"', ['web web-shop.dev.example.com']],
  ])('the routes follow from the ports %s', (ports, found) => {
    expect(one(ports).plan.routes.map(({ name, host }) => `${name} ${host}`)).toEqual(found)
    expect(one(ports).codes).toEqual([])
  })

  test.each([
    ['{target: 80, published: "80"}', '{target: 80, published: "8080", x-host: a.example.com}'],
    ['{target: 80, published: "80", x-host: a.example.com}', '{target: 80, published: "8080", x-host: a.example.com}'],
    [
      '{target: 80, published: "80"}',
      '{target: 80, published: "53", protocol: udp}, {target: 80, x-host: a.example.com}',
    ],
  ])('a container port has the hosts of all its items: %s, %s', (first, second) => {
    const { plan, codes } = one(`${first}, ${second}`)
    expect(plan.routes.map(({ host }) => host).sort()).toEqual(['a.example.com', 'web-shop.dev.example.com'])
    expect(codes.filter(code => code !== 'ports/not-public')).toEqual([])
  })

  test('a host of a port that no item makes public has no effect', () => {
    expect(one('{target: 80, published: "80"}, {target: 81, x-host: a.example.com}').codes).toEqual([
      'ports/host-not-public',
    ])
  })

  test.each([
    ['"5432:5432"', 'warning ports/never-public'],
    ['"8080:6379"', 'warning ports/never-public'],
    ['"9229:9229"', 'warning ports/never-public'],
    ['"127.0.0.1:8080:80"', 'warning ports/loopback'],
    ['"[::1]:8080:80"', 'warning ports/loopback'],
    ['"53:53/udp"', 'warning ports/not-public'],
  ])('%s is not public', (ports, line) => {
    const { plan, lines } = one(ports)
    expect(plan.routes).toEqual([])
    expect(lines).toEqual([expect.stringContaining(line)])
  })

  test.each(['5432:5432', '7000:5432', '127.0.0.1:7000:5432', '127.0.0.1:80:80'])(
    'the port %s is not reported if an endpoint makes it public',
    port => {
      const [published, target] = port.split(':').slice(-2)
      for (const number of [published, target]) {
        const { plan, codes } = planOf(`services: {db: {image: i, ports: ["${port}"]}}
endpoints: [{path: /, service: db, port: ${number}}]`)
        expect(codes).toEqual([])
        expect(plan.routes).toHaveLength(1)
      }
    },
  )

  test('a port that is not public is reported with the command to reach it', () => {
    const { diagnostics } = one('"127.0.0.1:8080:80", "15432:5432"')
    expect(diagnostics.map(({ hint }) => hint)).toEqual([
      'to reach it from your machine, use `devctl forward web 8080:80`',
      'to reach it from your machine, use `devctl forward web 5432`; to make it public, use `x-expose` in the long form of `ports`, or an endpoint if it speaks HTTP',
    ])
  })

  // Database ports are recognized by the container port, not by the published one.
  test('a port published as a database port is not a database', () =>
    expect(one('"5432:80"').plan.routes).toHaveLength(1))

  test('adding a port at the end does not change the address of the first one', () => {
    const leadsTo = (ports: string) =>
      one(ports).plan.routes.find(({ host }) => host === 'web-shop.dev.example.com')?.rules[0]?.port
    expect(leadsTo('"8080:80"')).toBe(80)
    expect(leadsTo('"8080:80", "7000:70"')).toBe(80)
    expect(leadsTo('"8080:80", "7000:70", "53:53/udp"')).toBe(80)
  })

  test('a host address is left out with a warning', () =>
    expect(one('"192.0.2.1:8080:80"').codes).toEqual(['ports/host-ip']))
})

describe('endpoints', () => {
  const services = 'services: {web: {image: i, ports: ["8080:80"]}, api: {image: i}}'

  test('a list is the endpoint of the environment', () => {
    const { plan } = planOf(`${services}
endpoints: [{path: /, service: web, port: 80}, {path: /api, service: api, port: 3000}]`)
    expect(plan.routes.map(({ name, host, rules, service }) => ({ name, host, rules, service }))).toEqual([
      {
        name: 'app',
        host: 'app-shop.dev.example.com',
        service: undefined,
        rules: [
          { path: '/', service: 'web', port: 80 },
          { path: '/api', service: 'api', port: 3000 },
        ],
      },
      expect.objectContaining({ name: 'web' }),
    ])
  })

  test('of two rules with one path and different hosts, the first applies at the main address', () => {
    const { plan } = planOf(`${services}
endpoints: [{path: /x, service: web, port: 80, host: a.org}, {path: /x/, service: api, port: 3000, host: b.org}]`)
    const main = plan.routes.find(({ name }) => name === 'app')
    expect(main?.rules).toEqual([{ path: '/x', service: 'web', port: 80 }])
  })

  test('a mapping is an endpoint for each name', () => {
    expect(
      hosts(`${services}
endpoints: {front: [{path: /, service: web, port: 80}], Back_End: [{path: /, service: api, port: 3000}]}`),
    ).toEqual([
      'back-end back-end-shop.dev.example.com',
      'front front-shop.dev.example.com',
      'web web-shop.dev.example.com',
    ])
  })

  test('labels become annotations of the route', () => {
    const { plan } = planOf(`${services}
endpoints: {labels: {a.b/c: d}, rules: [{path: /, service: web, port: 80}]}`)
    expect(plan.routes[0]!.annotations).toEqual({ 'a.b/c': 'd' })
  })

  test('an endpoint can make a database port public', () => {
    expect(hosts('services: {db: {image: i}}\nendpoints: [{path: /, service: db, port: 5432}]')).toEqual([
      'app app-shop.dev.example.com',
    ])
  })

  test('an endpoint takes precedence over a public port with the same host, with a warning at both', () => {
    const { plan, lines } = planOf(`${services}\nendpoints: {web: [{path: /x, service: api, port: 3000}]}`)
    expect(plan.routes.map(({ rules }) => rules[0]!.service)).toEqual(['api'])
    expect(lines).toEqual(['warning routes/overruled: "8080:80"', 'warning routes/overruled: web'])
  })

  test('two endpoints with the same host are an error', () => {
    expect(
      planOf(
        `${services}\nendpoints: {a_b: [{path: /, service: web, port: 80}], a-b: [{path: /, service: api, port: 1}]}`,
      ).codes,
    ).toContain('routes/host-conflict')
  })
})

test('two public ports with the same host are an error', () => {
  expect(
    planOf('services: {a: {image: i, ports: ["1080:80", "1081:81"]}, a-81: {image: i, ports: ["90:90"]}}').codes,
  ).toEqual(['routes/host-conflict'])
})

test('a label over 63 characters is cut with a hash', () => {
  const name = 'x'.repeat(60)
  const { plan, codes } = planOf(`services: {${name}: {image: i, ports: ["8080:80"]}}`)
  expect(plan.routes[0]!.host).toMatch(/^x{54}-[0-9a-f]{8}\.dev\.example\.com$/)
  expect(codes).toEqual(['routes/long-host'])
})

describe('defaults of options', () => {
  const text = 'services: {web: {image: i, ports: ["8080:80"]}}'

  test('hosts get a placeholder if no domain is given, with a warning', () => {
    const { plan, codes } = planOf(text, { domain: undefined } as never)
    expect(plan.routes[0]!.host).toBe('web-shop.local.devctl')
    expect(codes).toEqual(['routes/no-domain'])
  })

  test('hosts use the name of the environment if no namespace is given', () => {
    const { plan, codes } = planOf(text, { namespace: undefined } as never)
    expect(plan.environment).toEqual({ name: 'app' })
    expect(plan.routes[0]!.host).toBe('web-app.dev.example.com')
    expect(codes).toEqual(['routes/no-namespace'])
  })

  test('no option is required if no port is public', () => {
    expect(planOf('services: {w: {image: w}}', { namespace: undefined, domain: undefined } as never).codes).toEqual([])
  })

  test('routes are Ingresses with class and certificate, or HTTPRoutes of a gateway', () => {
    expect(planOf(text, { ingressClass: 'nginx', tlsSecret: 'tls' }).plan.routes[0]).toMatchObject({
      kind: 'Ingress',
      ingressClassName: 'nginx',
      tlsSecret: 'tls',
    })
    expect(planOf(text, { routes: 'gateway', gateway: 'infra/public' }).plan.routes[0]).toMatchObject({
      kind: 'HTTPRoute',
      gateway: { namespace: 'infra', name: 'public' },
    })
    expect(planOf(text, { routes: 'gateway' }).codes).toEqual(['routes/no-gateway'])
  })
})

test.each([
  [
    'the name of another service ends like a host',
    `services:
  shop: {image: i, ports: [{target: 80, published: "80", x-host: admin.example.com}]}
  shop-admin: {image: i, ports: [{target: 80, published: "81", x-host: example.com}]}`,
    ['shop-admin-example-com', 'shop-admin-example-com-HASH'],
  ],
  [
    'hosts differ in their dots only',
    'services: {web: {image: i, ports: [{target: 80, published: "80", x-host: [a-b.c.example.com, a.b-c.example.com]}]}}',
    ['web-a-b-c-example-com', 'web-a-b-c-example-com-HASH'],
  ],
  [
    'a service is named like the route of a host',
    `services:
  a: {image: i, ports: [{target: 80, published: "80", x-host: a.org}]}
  a-a-org: {image: i, ports: [{target: 80, published: "81"}]}`,
    ['a-a-org', 'a-a-org-HASH'],
  ],
])('two routes with different hosts do not get the same name: %s', (_, text, names) => {
  const { plan } = planOf(text, { tlsIssuer: { name: 'le', kind: 'ClusterIssuer' } })
  const repeated = plan.routes.filter(({ name }) => name.startsWith(names[0]!))
  expect(repeated.map(({ name }) => name.replace(/-[a-z0-9]{5}$/, '-HASH'))).toEqual(names)
  for (const { name, tlsSecret } of repeated) expect(tlsSecret).toBe(`${name}-tls`)
})

test('an HTTPRoute has at most 16 rules, so more paths of a host become several HTTPRoutes', () => {
  const paths = Array.from({ length: 33 }, (_, index) => `\n  - {path: /p${index}, service: web, port: 80}`)
  const text = `services: {web: {image: i, expose: ["80"]}}\nendpoints:${paths.join('')}`
  const { plan } = planOf(text, { routes: 'gateway', gateway: 'infra/public' })
  expect(plan.routes.map(({ name, host, rules }) => [name, host, rules.length])).toEqual([
    ['app', 'app-shop.dev.example.com', 16],
    ['app-2', 'app-shop.dev.example.com', 16],
    ['app-3', 'app-shop.dev.example.com', 1],
  ])
  expect(planOf(text).plan.routes.map(({ rules }) => rules.length)).toEqual([33])
})
