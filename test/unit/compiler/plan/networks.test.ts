import { describe, expect, test } from 'vitest'
import { TRAFFIC_LABEL } from '../../../../platform/records/names.ts'
import { planOf } from '../../../support/plan/compose.ts'

const names = (text: string) => planOf(text).plan.policies.map(({ name }) => name)

describe('policies', () => {
  test('policies are created only if the file separates its services', () => {
    expect(names('services: {a: {image: a}, b: {image: b}}')).toEqual([])
    expect(names('services: {a: {image: a, networks: [n]}}\nnetworks: {n: , unused: }')).toEqual([])
    expect(names('services: {a: {image: a, networks: [n]}, b: {image: b}}\nnetworks: {n: }')).toEqual([
      'app-network-default',
      'app-network-n',
    ])
    expect(names('services: {a: {image: a, networks: [n]}}\nnetworks: {n: {internal: true}}')).toEqual([
      'app-network-n',
    ])
  })

  test('members accept connections from members, and from anywhere on public ports', () => {
    const { plan, pod } = planOf(`
services:
  web: {image: w, networks: [front, back], ports: ["8080:80"]}
  db: {image: d, networks: [back]}
networks: {front: , back: }
`)
    expect(pod('web').labels).toEqual({
      [TRAFFIC_LABEL]: 'separate',
      'network.devctl/back': 'true',
      'network.devctl/front': 'true',
    })
    expect(plan.policies.map(({ name, podLabels, ingress, egress }) => ({ name, podLabels, ingress, egress }))).toEqual(
      [
        {
          name: 'app-network-back',
          podLabels: { 'network.devctl/back': 'true' },
          ingress: [{ podLabels: { 'network.devctl/back': 'true' } }],
          egress: undefined,
        },
        {
          name: 'app-network-front',
          podLabels: { 'network.devctl/front': 'true' },
          ingress: [{ podLabels: { 'network.devctl/front': 'true' } }],
          egress: undefined,
        },
        {
          name: 'app-web-public',
          podLabels: { 'dev.platform/service': 'web' },
          ingress: [{ ports: [{ port: 80, protocol: 'TCP' }] }],
          egress: undefined,
        },
      ],
    )
  })

  test('two policies do not get the same name', () => {
    const text = (ports: string) => `
services:
  network: {image: w, networks: [public, back], ports: ["8080:80"]}
  db: {image: d, networks: [back]${ports}}
networks: {public: , back: }
`
    const found = names(text(''))
    expect(found).toEqual(['app-network-back', 'app-network-public', expect.stringMatching(/^app-network-public-\w+$/)])
    expect(names(text(', ports: ["9000:90"]')).filter(name => name.startsWith('app-network'))).toEqual(found)
  })

  test('members accept connections from anywhere on ports of their node', () => {
    const { plan } = planOf(`
services:
  web: {image: w, networks: [front, back]}
  db: {image: d, networks: [back], ports: [{target: 5432, published: "5433", mode: host}, {target: 9, mode: host}]}
  dns: {image: d, network_mode: "service:web", ports: [{target: 53, published: "53", protocol: udp, mode: host}]}
  cut: {image: d, network_mode: none, ports: [{target: 80, published: "80", mode: host}]}
networks: {front: , back: }
`)
    const found = plan.policies.filter(({ name }) => name.endsWith('-public'))
    expect(found.map(({ name, ingress }) => [name, ingress])).toEqual([
      ['app-db-public', [{ ports: [{ port: 5432, protocol: 'TCP' }] }]],
      ['app-web-public', [{ ports: [{ port: 53, protocol: 'UDP' }] }]],
    ])
  })

  const parts = (text: string) =>
    planOf(text).plan.policies.map(({ name, podLabels, ingress, egress }) => ({ name, podLabels, ingress, egress }))
  const back = { 'network.devctl/back': 'true' }
  const toMembersAndDns = [{ podLabels: back }, { dns: true }]

  test('an internal network allows connections to members and DNS only', () => {
    expect(parts('services: {db: {image: d, networks: [back]}}\nnetworks: {back: {internal: true}}')).toEqual([
      { name: 'app-network-back', podLabels: back, ingress: [{ podLabels: back }], egress: toMembersAndDns },
    ])
  })

  test('an internal network does not limit services that are in another network, too', () => {
    const front = { 'network.devctl/front': 'true' }
    expect(
      parts(`
services: {web: {image: w, networks: [front, back]}, db: {image: d, networks: [back]}}
networks: {front: , back: {internal: true}}
`),
    ).toEqual([
      {
        name: 'app-internal-back',
        podLabels: { [TRAFFIC_LABEL]: 'internal', ...back },
        ingress: undefined,
        egress: toMembersAndDns,
      },
      { name: 'app-network-back', podLabels: back, ingress: [{ podLabels: back }], egress: undefined },
      { name: 'app-network-front', podLabels: front, ingress: [{ podLabels: front }], egress: undefined },
    ])
    expect(
      parts('services: {web: {image: w, networks: [front, back]}}\nnetworks: {front: , back: {internal: true}}').map(
        ({ egress }) => egress,
      ),
    ).toEqual([undefined, undefined])
  })

  test('a policy opens the port of the Pod for a public port', () => {
    const { plan } = planOf(`
services: {web: {image: w, networks: [a], ports: ["8080:80"]}, b: {image: b}}
networks: {a: }
endpoints: [{path: /, service: web, port: 8080}]
`)
    expect(plan.policies.find(({ name }) => name === 'app-web-public')!.ingress).toEqual([
      { ports: [{ port: 80, protocol: 'TCP' }] },
    ])
  })

  test('a wait may connect to a service on another network', () => {
    const { plan } = planOf(`
services:
  web: {image: w, networks: [a], depends_on: {db: {condition: service_healthy}}}
  db: {image: d, networks: [b], expose: ["5432"]}
networks: {a: , b: }
`)
    expect(plan.policies.find(({ name }) => name === 'app-db-awaited')!.ingress).toEqual([
      { podLabels: { 'dev.platform/service': 'web' }, ports: [{ port: 5432, protocol: 'TCP' }] },
    ])
  })

  test('waiting for a Job from an internal network allows connections to the API server', () => {
    const { plan, codes } = planOf(`
services:
  web: {image: w, networks: [a], depends_on: {job: {condition: service_completed_successfully}}}
  job: {image: j, networks: [a], restart: "no"}
networks: {a: {internal: true}}
`)
    expect(codes).toEqual(['network/job-wait'])
    expect(plan.policies.map(({ name }) => name)).toEqual(['app-network-a', 'app-web-waits-for'])
  })

  test('an external network accepts connections from anywhere', () => {
    const { plan, codes } = planOf(`
services: {a: {image: a, networks: [x, y]}}
networks: {x: {external: true}, y: }
`)
    expect(codes).toEqual(['network/external'])
    expect(plan.policies[0]!.ingress).toEqual([{}])
  })

  test('a service without networks denies all connections', () => {
    const { plan, pod } = planOf('services: {a: {image: a, network_mode: none}, b: {image: b}}')
    expect([pod('a').labels, pod('b').labels]).toEqual([{ [TRAFFIC_LABEL]: 'internal' }, undefined])
    expect(plan.policies).toMatchObject([
      { name: 'app-a-none', podLabels: { 'dev.platform/service': 'a' }, ingress: [], egress: [] },
    ])
  })

  const policy = (text: string, name: string) => planOf(text).plan.policies.find(one => one.name === name)
  const rules = (text: string, name: string) => policy(text, name)?.ingress

  test.each([
    ['bridge', [{ podLabels: { 'dev.platform/service': 'd' }, ports: [{ port: 5432, protocol: 'TCP' }] }]],
    ['host', [{ ports: [{ port: 5432, protocol: 'TCP' }] }]],
  ])('a service with network_mode %s may connect to the service that it waits for', (mode, ingress) => {
    const text = `
services:
  db: {image: d, networks: [back], expose: ["5432"]}
  web: {image: w, networks: [front]}
  d: {image: x, network_mode: ${mode}, depends_on: {db: {condition: service_healthy}}}
networks: {back: , front: }
`
    expect(rules(text, 'app-db-awaited')).toEqual(ingress)
    expect(policy(text, 'app-d-waits-for')).toBeUndefined()
  })

  test('a wait may connect to the port of the Pod, not to that of the Service', () => {
    const text = `
services:
  vpn: {image: v, networks: [a], ports: ["80:8080"]}
  app: {image: p, network_mode: "service:vpn", healthcheck: {test: [CMD, x]}}
  client: {image: c, networks: [b], depends_on: {app: {condition: service_healthy}}}
networks: {a: , b: }
`
    expect(rules(text, 'app-vpn-awaited')).toEqual([
      { podLabels: { 'dev.platform/service': 'client' }, ports: [{ port: 8080, protocol: 'TCP' }] },
    ])
  })

  test.each(['bridge', 'host'])('a service with network_mode %s stays open when others wait for it', mode => {
    const text = `
services:
  a: {image: a, network_mode: ${mode}, ports: ["80:80"]}
  c: {image: c, networks: [one], depends_on: {a: {condition: service_healthy}}}
  d: {image: d, networks: [two]}
networks: {one: , two: }
`
    expect(names(text)).toEqual(['app-network-one', 'app-network-two'])
  })

  test.each([
    ['bridge', { podLabels: { 'dev.platform/service': 'a' } }],
    ['host', {}],
  ])('a service in an internal network may connect to one with network_mode %s that it waits for', (mode, peer) => {
    const text = `
services:
  a: {image: a, network_mode: ${mode}, expose: ["80"]}
  c: {image: c, networks: [one], depends_on: {a: {condition: service_healthy}}}
networks: {one: {internal: true}}
`
    expect(policy(text, 'app-c-waits-for')?.egress).toEqual([{ ...peer, ports: [{ port: 80, protocol: 'TCP' }] }])
  })

  test.each([
    ['n', 'n: {image: n, network_mode: none, PORTS}'],
    ['m', 'n: {image: n, network_mode: none}, m: {image: m, network_mode: "service:n", PORTS}'],
    [
      'm',
      'n: {image: n, network_mode: none, container_name: box}, m: {image: m, network_mode: "container:box", PORTS}',
    ],
  ])('no port of a Pod without a network is exposed: %s in %s', (_, services) => {
    for (const expose of ['', ', x-expose: {type: LoadBalancer}']) {
      const ports = `ports: [{target: 80, published: "80"${expose}}]`
      const { plan, codes } = planOf(`
services: {${services.replace('PORTS', ports)}, a: {image: a, networks: [one]}, b: {image: b, networks: [two]}}
networks: {one: , two: }
`)
      expect(codes).toEqual(['ports/no-network'])
      expect(plan.policies.map(({ name }) => name)).toEqual(['app-n-none', 'app-network-one', 'app-network-two'])
      expect([plan.routes, plan.services.filter(({ exposed }) => exposed)]).toEqual([[], []])
    }
  })

  test.each([
    ['a published port', '{target: 80, published: "8080"}', '', 'networks: [back, deep]'],
    ['a port with x-expose', '{target: 80, published: "8080", x-expose: {type: LoadBalancer}}', '', 'networks: [back]'],
    ['a port of the node', '{target: 80, published: "8080", mode: host}', '', 'networks: [back]'],
    [
      'a port of a service that joins another one',
      '{target: 80, published: "8080"}',
      ', lead: {image: l, networks: [back]}',
      'network_mode: "service:lead"',
    ],
  ])('nobody outside reaches a service whose networks are all internal: %s', (_, port, others, networks) => {
    const { plan, diagnostics } = planOf(`
services: {admin: {image: a, ports: [${port}], ${networks}}, web: {image: w, networks: [front]}${others}}
networks: {front: , back: {internal: true}, deep: {internal: true}}
`)
    const reports = diagnostics.filter(({ severity }) => severity !== 'info')
    expect(reports.map(({ code, related }) => [code, related?.map(({ message }) => message)])).toEqual([
      ['ports/internal-network', ['the network is here']],
    ])
    expect(plan.routes).toEqual([])
    expect(plan.services.filter(({ exposed }) => exposed)).toEqual([])
    expect(plan.policies.filter(({ name }) => name.endsWith('-public'))).toEqual([])
    expect(JSON.stringify(plan.workloads.map(({ pod }) => pod.containers.map(one => one.ports)))).not.toMatch(
      'hostPort',
    )
    expect(plan.security.level).not.toBe('privileged')
  })

  test.each([
    ['an endpoint', 'back', 'endpoints: [{path: /, service: admin, port: 80}]'],
    ['another network', 'back, front', ''],
    ['an external network', 'out', ''],
  ])('people outside reach a service in an internal network through %s', (_, networks, more) => {
    const { plan, codes } = planOf(`
services: {admin: {image: a, ports: ["8080:80"], networks: [${networks}]}}
networks: {front: , back: {internal: true}, out: {external: true}}
${more}
`)
    expect(codes.filter(code => code !== 'network/external')).toEqual([])
    expect(plan.routes).toHaveLength(1)
  })

  test.each([
    ['{one: {name: shared}, two: {name: shared}}', []],
    ['{one: {external: true}, two: {name: one, external: true}}', []],
    ['{one: , two: {name: one}}', ['app-network-one', 'app-network-two']],
    ['{one: {name: a}, two: {name: b}}', ['app-network-one', 'app-network-two']],
  ])('networks are the same if their names are: %s', (networks, expected) => {
    expect(
      names(`services: {a: {image: a, networks: [one]}, b: {image: b, networks: [two]}}\nnetworks: ${networks}`),
    ).toEqual(expected)
  })

  test('a network with two keys has one policy, which is named after the first key', () => {
    const { plan, pod } = planOf(`
services: {a: {image: a, networks: [one]}, b: {image: b, networks: [two]}, c: {image: c, networks: [other]}}
networks: {one: {name: shared}, two: {name: shared}, other: , zero: {name: shared}}
`)
    expect(plan.policies.map(({ name }) => name)).toEqual(['app-network-one', 'app-network-other'])
    expect(pod('b').labels).toEqual(pod('a').labels)
  })

  test('services may share an alias in networks with the same name', () => {
    const text = (name: string) => `
services:
  a: {image: a, networks: {one: {aliases: [db]}}}
  b: {image: b, networks: {two: {aliases: [db]}}}
networks: {one: {name: x}, two: {name: ${name}}}
`
    expect([planOf(text('x')).codes, planOf(text('y')).codes]).toEqual([[], ['names/collision']])
  })

  test.each([
    ['one of two services is elsewhere', { a: ['one'], b: ['two'], c: ['two'] }, ['a'], 2],
    ['no network has all of them', { a: ['one'], b: ['one', 'two'], c: ['two'] }, ['a', 'b'], 1],
    ['the first one is in both networks', { a: ['one', 'two'], b: ['one'], c: ['two'] }, ['a', 'b', 'c'], 0],
    ['all are in one network', { a: ['one'], b: ['one'], c: ['one'] }, ['a', 'b', 'c'], 0],
  ])('only services on a common network share an alias: %s', (_, services, shared, collisions) => {
    const text = Object.entries(services).map(([name, networks]) => {
      const own = networks.map(network => `${network}: {aliases: [api]}`)
      return `  ${name}: {image: i, networks: {${own.join(', ')}}}\n`
    })
    const { plan, codes } = planOf(`services:\n${text.join('')}networks: {one: , two: }`)
    const labels = plan.workloads.filter(({ pod }) => pod.labels?.['alias.devctl/api']).map(({ name }) => name)
    expect(shared.length > 1 ? labels : shared).toEqual(shared)
    expect(codes).toEqual(Array(collisions).fill('names/collision'))
  })
})
