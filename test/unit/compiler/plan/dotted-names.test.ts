import { describe, expect, test } from 'vitest'
import { planOf } from '../../../support/plan/compose.ts'

/** Services, and a `web` that uses a host. */
const planned = (services: string, url: string, web = '') =>
  planOf(`services: {${services}, web: {image: w, environment: {URL: "${url}"}${web}}}`)
const nameOf = ({ pod }: ReturnType<typeof planOf>, workload = 'rt') => {
  const { hostname, subdomain } = pod(workload)
  return [hostname, subdomain]
}
const service = ({ plan }: ReturnType<typeof planOf>, name: string) => plan.services.find(one => one.name === name)

describe('a name with one dot', () => {
  test.each([
    ['a container name', 'rt: {image: r, container_name: rt-dev.acme-rt}', ''],
    ['in capitals', 'rt: {image: r, container_name: RT-dev.Acme-RT}', ''],
    ['an alias', 'rt: {image: r, networks: {default: {aliases: [rt-dev.acme-rt]}}}', ''],
    ['a link', 'rt: {image: r}', ', links: ["rt:rt-dev.acme-rt"]'],
    ['a service that has the host name itself', 'rt: {image: r, hostname: rt-dev, container_name: rt-dev.acme-rt}', ''],
    ['a Job', 'rt: {image: r, restart: "no", container_name: rt-dev.acme-rt}', ''],
    ['a service on every node', 'rt: {image: r, deploy: {mode: global}, container_name: rt-dev.acme-rt}', ''],
  ])('a name with one dot is the name of a Pod: %s', (_, services, web) => {
    const found = planned(services, 'http://rt-dev.acme-rt:80', web)
    expect(found.codes).toEqual([])
    expect(nameOf(found)).toEqual(['rt-dev', 'acme-rt'])
    expect(service(found, 'acme-rt')).toMatchObject({ selects: { service: 'rt' }, ports: [], headless: true })
    expect(service(found, 'acme-rt')).not.toHaveProperty('publishesNotReady')
  })

  test('a name with one dot may be the name of a service', () => {
    const found = planned('api.v: {image: a}', 'http://api.v:80')
    expect(found.codes).toEqual(['names/renamed'])
    expect(found.diagnostics[0]).toMatchObject({
      message:
        '`api.v` cannot be the name of a Service in Kubernetes, which is `api-v`; as a host, it still leads to the service',
      hint: 'to use one name in Compose and Kubernetes, rename it to `api-v` here and where it is used',
    })
    expect(nameOf(found, 'api-v')).toEqual(['api', 'v'])
  })

  test.each([
    ['that nothing uses', 'api.v: {image: a}', 'http://other:80'],
    ['of three labels', 'api.v.w: {image: a}', 'http://api.v.w:80'],
    ['of a service with data', 'api.v: {image: a, volumes: [/data]}', 'http://api.v:80'],
  ])('a dotted name that does not resolve must be changed: the name of a service %s', (_, service, url) => {
    const found = planned(service, url).diagnostics.find(({ code }) => code === 'names/renamed')
    expect(found?.message).toContain('is not a valid host name in Kubernetes')
    expect(found?.hint).toMatch(/^rename it to `api-v/)
  })

  test('a name with one dot resolves even if no text of the file uses it', () => {
    const found = planOf('services: {rt: {image: r, container_name: rt.acme}}')
    expect(found.codes).toEqual([])
    expect(nameOf(found)).toEqual(['rt', 'acme'])
  })

  test('a name leads to its own Pod before that is ready, if its service uses the name', () => {
    for (const key of ['hostname', 'container_name']) {
      const found = planOf(`services: {rt: {image: r, ${key}: rt.acme, environment: {URL: "http://rt.acme:80"}}}`)
      expect(nameOf(found)).toEqual(['rt', 'acme'])
      expect(service(found, 'acme')).toMatchObject({ publishesNotReady: true })
    }
    // A host name is known to its Pod alone, and nothing uses this one.
    expect(nameOf(planOf('services: {rt: {image: r, hostname: rt.acme}}'))).toEqual(['rt', undefined])
  })

  test('names of several services share a subdomain', () => {
    const found = planned(
      'rt: {image: r, container_name: rt.acme}, db: {image: d, container_name: db.acme}',
      'http://db.acme',
    )
    expect([nameOf(found), nameOf(found, 'db')]).toEqual([
      ['rt', 'acme'],
      ['db', 'acme'],
    ])
    expect(service(found, 'acme')).toMatchObject({ selects: { label: 'alias.devctl/acme' } })
    expect(found.pod('rt').labels).toMatchObject({ 'alias.devctl/acme': 'true' })
    expect(found.pod('db').labels).toMatchObject({ 'alias.devctl/acme': 'true' })
  })

  test('a subdomain may have the name of its own service', () => {
    const found = planned('rt: {image: r, container_name: dev.rt, expose: ["80"]}', 'http://dev.rt')
    expect(found.codes).toEqual([])
    expect(nameOf(found)).toEqual(['dev', 'rt'])
    expect(found.plan.services.filter(({ name }) => name === 'rt')).toEqual([
      expect.objectContaining({ headless: false }),
    ])
  })

  test('a Pod with several names gets the name that other services use', () => {
    const found = planned('rt: {image: r, container_name: a.x, networks: {default: {aliases: [b.x]}}}', 'http://b.x')
    expect(nameOf(found)).toEqual(['b', 'x'])
    expect(found.codes).toEqual(['names/container-name'])
  })

  test('a name of a service in a shared Pod is the name of the Pod', () => {
    const found = planned(
      'rt: {image: r}, side: {image: s, network_mode: "service:rt", container_name: side.x}',
      'http://side.x',
    )
    expect(nameOf(found)).toEqual(['side', 'x'])
    expect(service(found, 'x')).toMatchObject({ selects: { service: 'rt' } })
  })
})

describe('names that do not resolve', () => {
  test.each([
    ['three labels', 'rt: {image: r, container_name: rt.acme.internal}', 'rt.acme.internal', 'two labels'],
    ['an alias of three labels', 'rt: {image: r, networks: {default: {aliases: [a.b.c]}}}', 'a.b.c', 'two labels'],
    ['a service of three labels', 'rt.acme.internal: {image: r}', 'rt.acme.internal', 'two labels'],
    ['data', 'rt: {image: r, container_name: rt.x, volumes: [/d]}', 'rt.x', 'has data'],
    ['another host name', 'rt: {image: r, container_name: rt.x, hostname: other}', 'rt.x', 'host name `other`'],
    ['no label', 'rt: {image: r, container_name: r_t.x}', 'r_t.x', 'not valid'],
    [
      'the name of another service',
      'rt: {image: r, container_name: rt.db}, db: {image: d}',
      'rt.db',
      '`db` is the name',
    ],
  ])('a name that another service uses is an error if it does not resolve: %s', (_, services, host, reason) => {
    const { diagnostics } = planned(services, `http://${host}:80`)
    const found = diagnostics.filter(({ severity }) => severity === 'error')
    expect(found).toMatchObject([{ code: 'names/unreachable', message: expect.stringContaining(reason) }])
    expect(found[0]!.span!.file.text.slice(found[0]!.span!.start, found[0]!.span!.end)).toBe(`${host}:80`)
  })

  test('a name that does not resolve is also reported in a command, healthcheck or config', () => {
    const { diagnostics } = planOf(`services:
  rt: {image: r, container_name: a.b.c}
  web: {image: w, command: [curl, "http://a.b.c"], healthcheck: {test: [CMD, nc, a.b.c, "80"]}, configs: [c]}
configs: {c: {content: "upstream: a.b.c:80"}}`)
    expect(diagnostics.filter(({ code }) => code === 'names/unreachable')).toHaveLength(3)
  })

  test('a name with an address or a route, or without a use, is not unreachable', () => {
    const rt =
      'rt: {image: r, container_name: rt.example.com, ports: [{target: 80, published: "80", x-host: rt.example.com}]}'
    expect(planned(rt, 'http://rt.example.com').codes).not.toContain('names/unreachable')
    const other = 'rt: {image: r, container_name: rt.example.com}'
    expect(planned(other, 'http://rt.example.com', ', extra_hosts: ["rt.example.com:10.0.0.1"]').codes).not.toContain(
      'names/unreachable',
    )
    expect(planned(other, 'nothing').codes).toEqual(['names/container-name'])
  })
})
