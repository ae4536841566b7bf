import { expect, test } from 'vitest'
import { type Json, readWeb } from '../read.ts'

const tcp = { mode: 'ingress', protocol: 'tcp' }

test('ports in the long form are read', () => {
  const { web, found } = readWeb({
    ports: [
      { ...tcp, target: 80, published: '8080' },
      { ...tcp, target: 53, protocol: 'udp', host_ip: '127.0.0.1', published: '53' },
      { target: 90, published: '0' },
      { target: 81, published: '100-200', name: 'web', app_protocol: 'http', mode: 'host' },
    ],
  })
  expect(found).toEqual(['warning ports/any-published "0"'])
  expect(web.ports).toMatchObject([
    { target: 80, published: '8080', protocol: 'TCP', mode: 'ingress' },
    { target: 53, published: '53', protocol: 'UDP', hostIp: '127.0.0.1' },
    { target: 90, protocol: 'TCP' },
    { target: 81, published: '100-200', name: 'web', appProtocol: 'http', mode: 'host' },
  ])
  expect(web.ports[2]).not.toHaveProperty('published')
})

test.each<[Json, string]>([
  [{ target: 99999 }, 'error ports/out-of-range 99999'],
  [{ target: 0 }, 'error ports/out-of-range 0'],
  [{ target: 80, published: 'http' }, 'error ports/bad-published "http"'],
  [{ target: 80, published: '70000' }, 'error ports/bad-published "70000"'],
  [{ target: 80, published: '9-8' }, 'error ports/bad-published "9-8"'],
  [{ target: 80, protocol: 'http' }, 'error ports/unknown-protocol "http"'],
])('the port %j is refused', (port, problem) => {
  expect(readWeb({ ports: [port] }).found).toEqual([problem])
})

test.each<[Json[], string[]]>([
  [['3000'], ['3000/TCP']],
  [[3000], ['3000/TCP']],
  [
    ['53/udp', '53'],
    ['53/UDP', '53/TCP'],
  ],
  [
    ['3000-3002', '3001'],
    ['3000/TCP', '3001/TCP', '3002/TCP'],
  ],
  [['7-7/SCTP'], ['7/SCTP']],
])('expose %j is read as %j', (expose, ports) => {
  const { web, found } = readWeb({ expose })
  expect(found).toEqual([])
  expect(web.expose.map(({ value }) => `${value.port}/${value.protocol}`)).toEqual(ports)
})

test.each<[string, string]>([
  ['http', 'error ports/bad-expose http'],
  ['80:90', 'error ports/bad-expose 80:90'],
  ['53/xyz', 'error ports/bad-expose xyz'],
  ['70000/udp', 'error ports/bad-expose 70000'],
  ['20-10', 'error ports/bad-expose 20-10'],
  ['0', 'error ports/bad-expose 0'],
])('expose %s is refused', (expose, problem) => {
  expect(readWeb({ expose: [expose] }).found).toEqual([problem])
})

test('hundreds of exposed ports are reported as a warning', () => {
  const { web, found } = readWeb({ expose: ['1000-1200'] })
  expect(web.expose).toHaveLength(201)
  expect(found).toEqual(['warning ports/many-exposed "1000-1200"'])
})
