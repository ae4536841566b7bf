import { describe, expect, test } from 'vitest'
import { planOf } from '../../../support/plan/compose.ts'

const service = (fields: string) => planOf(`services: {x: {image: i, ${fields}}}`)

describe('known ports', () => {
  test.each([
    ['ports: [3000]', ['tcp-3000 3000→3000']],
    ['ports: ["8080:80"]', ['tcp-80 80→80', 'tcp-8080 8080→80']],
    ['ports: ["80:80"]', ['tcp-80 80→80']],
    // A container port takes precedence over a published port with the same number.
    ['ports: ["8080:80", "80:8080"]', ['tcp-80 80→80', 'tcp-8080 8080→8080']],
    ['ports: ["53:53", "53:53/udp"]', ['tcp-53 53→53', 'udp-53 53→53']],
    [
      'ports: ["9000-9001:8000-8001"]',
      ['tcp-8000 8000→8000', 'tcp-8001 8001→8001', 'tcp-9000 9000→8000', 'tcp-9001 9001→8001'],
    ],
    ['expose: ["90", "100-101"]', ['tcp-90 90→90', 'tcp-100 100→100', 'tcp-101 101→101']],
    ['healthcheck: {http: {path: /, port: 99}}', ['tcp-99 99→99']],
    ['ports: [{target: 80, name: Web Port}]', ['web-port 80→80']],
    ['ports: [{target: 80, name: "8080"}]', ['tcp-80 80→80']],
    ['ports: ["127.0.0.1:8080:80"]', ['tcp-80 80→80', 'tcp-8080 8080→80']],
  ])('the ports of the Service follow from %s', (fields, ports) => {
    expect(service(fields).ports('x')).toEqual(ports)
  })

  test('ports of the built stage are known', () => {
    const text = 'services: {x: {build: {context: ., target: app}}}'
    const { ports, container } = planOf(
      text,
      {},
      {
        Dockerfile: 'FROM node AS app\nEXPOSE 3000 5353/udp\nFROM app AS test\nEXPOSE 9999\n',
      },
    )
    expect(ports('x')).toEqual(['tcp-3000 3000→3000', 'udp-5353 5353→5353'])
    expect(container('x').ports.map(({ port, protocol }) => `${port}/${protocol}`)).toEqual(['3000/TCP', '5353/UDP'])
  })

  test('ports that other services mention are known, with an info that names the position', () => {
    const { ports, lines } = planOf(`
services:
  cache: {image: c}
  api: {image: a, ports: ["8080:80"]}
  web:
    image: w
    environment: {CACHE: "redis://:pw@cache:6379/0", IMAGE: "cache:77", SELF: "web:1234"}
    command: [proxy, "http://api:8080/"]
`)
    expect(ports('cache')).toEqual(['tcp-6379 6379→6379'])
    // Published ports are known.
    expect(ports('api')).toEqual(['tcp-80 80→80', 'tcp-8080 8080→80'])
    expect(ports('web')).toEqual([])
    expect(lines).toEqual(['info ports/by-mention: cache:6379'])
  })

  test('ports that a config mentions are known', () => {
    const { ports } = planOf(`
services:
  api: {image: a}
  web: {image: w, configs: [site]}
configs: {site: {content: "proxy_pass http://api:3000;"}}
`)
    expect(ports('api')).toEqual(['tcp-3000 3000→3000'])
  })

  test('ports of endpoint rules are known, unless they name a published port', () => {
    const { ports } = planOf(`
services: {a: {image: i, ports: ["8080:80"]}, b: {image: i}}
endpoints: [{path: /, service: a, port: 8080}, {path: /b, service: b, port: 81}]
`)
    expect(ports('a')).toEqual(['tcp-80 80→80', 'tcp-8080 8080→80'])
    expect(ports('b')).toEqual(['tcp-81 81→81'])
  })
})

test('a Service is headless without known ports, and with dnsrr', () => {
  const { plan } = planOf('services: {a: {image: i}, b: {image: i, expose: ["80"], deploy: {endpoint_mode: dnsrr}}}')
  expect(plan.services.map(({ name, headless, ports }) => [name, headless, ports.length])).toEqual([
    ['a', true, 0],
    ['b', true, 1],
  ])
})

test('app_protocol gets a prefix if IANA has no such name', () => {
  const { plan } = service('ports: [{target: 80, app_protocol: http}, {target: 81, app_protocol: h2c}]')
  expect(plan.services[0]!.ports.map(({ appProtocol }) => appProtocol)).toEqual(['http', 'kubernetes.io/h2c'])
})

test('a published range for one port has no effect', () => {
  const { ports, codes } = service('ports: ["8000-8010:80"]')
  expect(ports('x')).toEqual(['tcp-80 80→80'])
  expect(codes).toEqual(['ports/published-range'])
})

test('a port of a Pod on the network of its node has the same number there', () => {
  const port = 'ports: [{target: 80, published: "8080", mode: host}]'
  const { pod, diagnostics, ports } = planOf(`services:
  x: {image: i, network_mode: host, ${port}}
  y: {image: i, network_mode: "service:x", ports: [{target: 81, published: "8081", mode: host}]}`)
  const found = pod('x').containers.flatMap(one => one.ports.map(({ port, hostPort }) => [port, hostPort]))
  expect(found).toEqual([
    [80, 80],
    [81, 81],
  ])
  expect(ports('x')).toContain('tcp-8080 8080→80')
  const messages = diagnostics.filter(({ code }) => code === 'ports/host-mode').map(({ message }) => message)
  expect(messages[0]).toContain('opens port 80 ')
})

test('a port with the mode `host` is a host port', () => {
  const { container, codes, plan } = service('ports: [{target: 80, published: 8080, mode: host}]')
  expect(container('x').ports[0]).toMatchObject({ port: 80, hostPort: 8080 })
  expect(codes).toEqual(['ports/host-mode'])
  expect(plan.security.level).toBe('privileged')
})

test.each([
  ['ports: ["8080:80", {target: 80, published: 9090, mode: host}]', { hostPort: 9090 }, {}],
  ['ports: [{target: 80, published: 9090, mode: host}, "8080:80"]', { hostPort: 9090 }, {}],
  ['ports: ["8080:80", {target: 80, published: 9090, name: web}]', { name: 'web' }, { name: 'web' }],
  ['ports: ["8080:80", {target: 80, published: 9090, app_protocol: http}]', {}, { appProtocol: 'http' }],
])('a container port has the settings of all items that publish it: %s', (fields, port, servicePort) => {
  const { container, plan } = service(fields)
  expect(container('x').ports).toMatchObject([{ port: 80, ...port }])
  expect(plan.services[0]!.ports.find(one => one.port === 80)).toMatchObject(servicePort)
})

test('a container port opens one port of the node', () => {
  const { container, diagnostics } = service(
    'ports: [{target: 80, published: 9090, mode: host}, {target: 80, published: 9091, mode: host}]',
  )
  expect(container('x').ports).toMatchObject([{ port: 80, hostPort: 9090 }])
  expect(diagnostics.filter(({ code }) => code === 'ports/host-mode').map(({ message }) => message)).toEqual([
    '`mode: host` opens port 9090 on the node where the Pod runs',
    '`mode: host` does not open port 9091 on the node, because port 9090 already leads to port 80',
  ])
})

describe('a Service for every service', () => {
  const job = (fields: string, peer = '') =>
    planOf(`
services:
  task: {image: t, ${fields}}
  web: {image: w, depends_on: {task: {condition: service_completed_successfully}}${peer}}
`).plan.services.map(({ name }) => name)

  test('a task that no service mentions has no Service', () => expect(job('restart: "no"')).toEqual(['web']))
  test('a task that a service mentions has a Service', () =>
    expect(job('restart: "no"', ', environment: {H: task}')).toEqual(['task', 'web']))
  test('a task with a port has a Service', () => expect(job('restart: "no", expose: ["80"]')).toEqual(['task', 'web']))
  test('a Job that no service waits for may be a server', () =>
    expect(planOf('services: {db: {image: i, restart: on-failure}}').plan.services).toHaveLength(1))
})

test('an app_protocol that Kubernetes refuses is left out', () => {
  const ports = (name: string) => planOf(`services: {x: {image: x, ports: [{target: 80, app_protocol: "${name}"}]}}`)
  expect(ports('h2c').plan.services[0]!.ports[0]!.appProtocol).toBe('kubernetes.io/h2c')
  expect(ports('example.com/own').codes).toEqual([])
  const refused = ports('foo bar')
  expect(refused.codes).toEqual(['ports/app-protocol'])
  expect(refused.plan.services[0]!.ports[0]).not.toHaveProperty('appProtocol')
})
