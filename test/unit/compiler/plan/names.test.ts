import { describe, expect, test } from 'vitest'
import { planOf } from '../../../support/plan/compose.ts'

const only = (service: string, rest = '') => planOf(`services: {${JSON.stringify(service)}: {image: i}${rest}}`)

describe('services', () => {
  test.each([
    ['web', 'web'],
    ['Web', 'web'],
    ['my_db', 'my-db'],
    ['api.v1', 'api-v1'],
    ['1st', 's-1st'],
    ['_x_', 'x'],
    ['a--b', 'a--b'],
    ['x'.repeat(63), 'x'.repeat(63)],
  ])('the service %s is called %s', (service, name) => {
    const { plan, codes } = only(service)
    expect(plan.services.map(one => one.name)).toEqual([name])
    expect(codes).toEqual(service === name ? [] : ['names/renamed'])
  })

  test('a long name is cut, and ends in a hash', () => {
    const [service] = only('x'.repeat(70)).plan.services
    expect(service!.name).toMatch(/^x{54}-[0-9a-f]{8}$/)
  })

  test('the valid one of two names that collide is kept, in any order', () => {
    const names = (text: string) => planOf(text).plan.services.map(({ name }) => name)
    const found = names('services: {a_b: {image: i}, a-b: {image: i}}')
    expect(found).toEqual(['a-b', expect.stringMatching(/^a-b-[0-9a-f]{5}$/)])
    expect(names('services: {a-b: {image: i}, a_b: {image: i}}')).toEqual(found)
    expect(names('services: {a_b: {image: i}, a.b: {image: i}}')).toEqual([
      expect.stringMatching(/^a-b-[0-9a-f]{5}$/),
      expect.stringMatching(/^a-b-[0-9a-f]{5}$/),
    ])
  })

  test('workloads with a lower length limit get a shorter name than their Service', () => {
    const name = 'x'.repeat(60)
    const { plan, lines } = planOf(`
services: {${name}: {image: i, volumes: [/d]}, ${name}y: {image: i, restart: "no", ports: ["80"]}}
`)
    expect(plan.workloads.map(one => one.name.length)).toEqual([52, 54])
    expect(plan.services.map(one => one.name)).toEqual([name, `${name}y`])
    expect(lines.filter(line => line.startsWith('info'))).toHaveLength(2)
  })
})

describe('environment', () => {
  test.each([
    ['My App', 'my-app'],
    ['a__b', 'a-b'],
    ['x--y', 'x--y'],
    ['-x-', 'x'],
  ])('the environment name %s becomes %s', (name, label) => {
    expect(planOf('services: {w: {image: w}}', { name }).plan.environment.name).toBe(label)
  })

  test('the name comes from the option, the file, the caller or Compose, in this order', () => {
    const name = (text: string, options: object) =>
      planOf(text, { ...options, ...('name' in options ? {} : { name: undefined }) } as never).plan.environment.name
    expect(name('name: file\nservices: {}', { name: 'option', fallbackName: 'caller' })).toBe('option')
    expect(name('name: file\nservices: {}', { fallbackName: 'caller' })).toBe('file')
    expect(name('services: {w: {image: w}}', { fallbackName: 'caller' })).toBe('caller')
    expect(name('services: {w: {image: w}}', {})).toBe('project')
  })
})

describe('the former host name of a renamed service', () => {
  const report = (field: string) =>
    planOf(`services: {my_db: {image: i}, web: {image: w, ${field}}}`).lines.filter(line =>
      line.includes('old-host-name'),
    )

  test.each([
    ['environment: {URL: "postgres://u:p@my_db:5432/x"}', 'my_db'],
    ['environment: {DB_HOST: my_db}', 'my_db'],
    ['environment: {DB_HOST: MY_DB}', 'MY_DB'],
    ['command: ["wait", "tcp://my_db:5432"]', 'my_db'],
    ['command: psql -h my_db', 'my_db'],
    ['healthcheck: {test: "nc my_db 5432"}', 'my_db'],
  ])('the former host name is reported in %s', (field, excerpt) => {
    expect(report(field)).toEqual([`warning names/old-host-name: ${excerpt}`])
  })

  test.each(['environment: {FILE: /var/my_db}', 'environment: {NAME: my_db_2}', 'command: env my_db=1 x'])(
    'the former host name is not seen in %s',
    field => {
      expect(report(field)).toEqual([])
    },
  )

  test('a change of case does not count, since DNS ignores it', () => {
    expect(planOf('services: {Db: {image: i}, web: {image: w, environment: {H: Db}}}').codes).toEqual(['names/renamed'])
  })
})

describe('aliases', () => {
  test('aliases of networks, links and container_name become Services with the same ports', () => {
    const { plan, codes } = planOf(`
services:
  db:
    image: i
    container_name: app-db
    expose: ["5432"]
    networks: {default: {aliases: [Database]}}
  web: {image: w, links: ["db:store", "db"]}
`)
    expect(codes).toEqual([])
    expect(plan.services.map(({ name, selects, ports }) => [name, selects, ports.map(({ port }) => port)])).toEqual([
      ['app-db', { service: 'db' }, [5432]],
      ['database', { service: 'db' }, [5432]],
      ['db', { service: 'db' }, [5432]],
      ['store', { service: 'db' }, [5432]],
      ['web', { service: 'web' }, []],
    ])
  })

  test('an alias that two services share on a network selects both', () => {
    const { plan, pod, codes } = planOf(`
services:
  a: {image: i, expose: ["80"], networks: {default: {aliases: [both]}}}
  b: {image: i, expose: ["81"], networks: {default: {aliases: [both]}}}
`)
    expect(codes).toEqual([])
    const both = plan.services.find(({ name }) => name === 'both')!
    expect(both.selects).toEqual({ label: 'alias.devctl/both' })
    expect(both.ports.map(({ port }) => port)).toEqual([80, 81])
    for (const name of ['a', 'b']) expect(pod(name).labels).toEqual({ 'alias.devctl/both': 'true' })
  })

  test.each([
    ['an alias and a service', 'a: {image: i, networks: {default: {aliases: [b]}}}, b: {image: i}'],
    ['a container name and a service', 'a: {image: i, container_name: b}, b: {image: i}'],
    ['two container names', 'a: {image: i, container_name: x}, b: {image: i, container_name: x}'],
    [
      'aliases on networks that do not meet',
      'a: {image: i, networks: {n: {aliases: [x]}}}, b: {image: i, networks: {m: {aliases: [x]}}}',
    ],
  ])('%s collide', (_, services) => {
    expect(planOf(`services: {${services}}\nnetworks: {n: , m: }`).codes).toContain('names/collision')
  })

  test('an alias that is not a valid host name is left out', () => {
    const { plan, lines } = planOf(`
services:
  a: {image: i, container_name: my_app, networks: {default: {aliases: [a.example.com]}}}
`)
    expect(plan.services.map(({ name }) => name)).toEqual(['a'])
    expect(lines).toEqual(['warning names/container-name: my_app', 'warning names/alias: a.example.com'])
  })

  test('an external link is an alias of another Service in the namespace', () => {
    const text = 'services: {a: {image: i, external_links: ["redis:cache", "db"]}}'
    expect(planOf(text).plan.services.find(({ name }) => name === 'cache')).toMatchObject({
      externalName: 'redis.shop.svc.cluster.local',
    })
    expect(planOf(text, { namespace: undefined } as never).codes).toEqual(['links/external'])
  })
})

test('a service must not take the name of the API server', () => {
  const codes = (namespace: string) => planOf('services: {kubernetes: {image: x}}', { namespace }).codes
  expect(codes('default')).toEqual(['names/reserved'])
  expect(codes('shop')).toEqual([])
})

test('a fixed address is reported where it is used', () => {
  const { diagnostics } = planOf(`
services:
  dns: {image: dns, networks: {net: {ipv4_address: 10.5.0.3}}}
  web: {image: web, networks: [net], environment: {DNS: "tcp://10.5.0.3:53"}}
networks: {net: }
`)
  expect(diagnostics.map(({ code, message }) => `${code}: ${message}`)).toEqual([
    'names/static-address: `DNS` of `web` uses the address `10.5.0.3`, which `dns` does not have in Kubernetes',
  ])
})

test('an external link with an invalid Service name is reported', () => {
  expect(planOf('services: {web: {image: web, external_links: [redis_1, redis]}}').lines).toEqual([
    'warning links/external: redis_1',
  ])
})
