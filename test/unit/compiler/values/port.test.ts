import { describe, expect, it } from 'vitest'
import { isIPv4, isIPv6 } from '../../../../compiler/values/ip-address.ts'
import { parsePorts } from '../../../../compiler/values/port.ts'

/** Formats a port as `IP|published|target/protocol`; absent parts are empty. */
function ports(text: string): string[] {
  const result = parsePorts(text)
  if (!result.ok) return [result.reason]
  return result.value.map(port => `${port.hostIp ?? ''}|${port.published ?? ''}|${port.target}/${port.protocol}`)
}

describe('ports', () => {
  it.each([
    ['3000', ['||3000/tcp']],
    ['3000-3001', ['||3000/tcp', '||3001/tcp']],
    ['9-11', ['||10/tcp', '||11/tcp', '||9/tcp']],
    ['80-80', ['||80/tcp']],
    ['8000:80', ['|8000|80/tcp']],
    ['9090-9091:8080-8081', ['|9090|8080/tcp', '|9091|8081/tcp']],
    ['100-200:81', ['|100-200|81/tcp']],
    ['7-7:81', ['|7|81/tcp']],
    ['127.0.0.1::5000', ['127.0.0.1||5000/tcp']],
    ['127.0.0.1:80:5000', ['127.0.0.1|80|5000/tcp']],
    ['127.0.0.1:5000-5001:5000-5001', ['127.0.0.1|5000|5000/tcp', '127.0.0.1|5001|5001/tcp']],
    [':80', ['||80/tcp']],
    ['::80', ['||80/tcp']],
    ['[]:80:80', ['|80|80/tcp']],
    ['[::1]:6001:6001', ['::1|6001|6001/tcp']],
    ['[::1]::80', ['::1||80/tcp']],
    ['[127.0.0.1]:1:2', ['127.0.0.1|1|2/tcp']],
    ['::1:6000:6000', ['::1|6000|6000/tcp']],
    ['2001:db8::1:80:80', ['2001:db8::1|80|80/tcp']],
    ['6060:6060/UDP', ['|6060|6060/udp']],
    ['1-2/udp', ['||1/udp', '||2/udp']],
    ['80/sctp', ['||80/sctp']],
    ['80/', ['||80/tcp']],
    ['0:90', ['|0|90/tcp']],
    ['0-1:5-6', ['|0|5/tcp', '|1|6/tcp']],
    ['08080:80', ['|8080|80/tcp']],
  ])('the port %s is read', (text, expected) => expect(ports(text)).toEqual(expected))

  it.each([
    ['', 'the container port is missing', ''],
    ['80:', 'the container port is missing', '80:'],
    ['/tcp', 'the container port is missing', '/tcp'],
    ['0', '0 is not between 1 and 65535', '0'],
    ['65536', '65536 is not between 1 and 65535', '65536'],
    ['70000:80', '70000 is not between 0 and 65535', '70000'],
    ['80:70000', '70000 is not between 1 and 65535', '70000'],
    ['8000-8001:0-1', '0 is not between 1 and 65535', '0-1'],
    ['3-1', 'the range `3-1` is descending', '3-1'],
    ['1-2:1-3', '2 ports of the host cannot stand for 3 ports of the container', '1-2:1-3'],
    ['1:2-3', '1 port of the host cannot stand for 2 ports of the container', '1:2-3'],
    ['1-2-3', '`1-2-3` is not a valid container port', '1-2-3'],
    ['a:80', '`a` is not a valid host port', 'a'],
    ['127.0.0.1:80', '`127.0.0.1` is not a valid host port', '127.0.0.1'],
    ['localhost:80:80', '`localhost` is not an IP address', 'localhost'],
    ['256.1.1.1:1:2', '`256.1.1.1` is not an IP address', '256.1.1.1'],
    ['[fe80::1%eth0]:1:2', '`fe80::1%eth0` is not an IP address', '[fe80::1%eth0]'],
    ['1:2:3:4', '`1:2` is not an IP address', '1:2'],
    ['80:80/icmp', '`icmp` is not a valid protocol', 'icmp'],
    ['80/tcp/x', '`tcp/x` is not a valid protocol', 'tcp/x'],
    [' 80', '` 80` is not a valid container port', ' 80'],
    ['0x50', '`0x50` is not a valid container port', '0x50'],
    ['-80', '`-80` is not a valid container port', '-80'],
    ['+80', '`+80` is not a valid container port', '+80'],
  ])('the port %j is refused: %s', (text, reason, place) => {
    const result = parsePorts(text)
    expect(result).toMatchObject({ ok: false, reason })
    if (!result.ok) expect(text.slice(result.start ?? 0, result.end ?? text.length)).toBe(place)
  })

  it('an address without a port of the host gets a hint', () => {
    expect(parsePorts('127.0.0.1:80')).toMatchObject({ hint: expect.stringContaining('`127.0.0.1:8080:80`') })
  })
})

describe('addresses', () => {
  it.each([
    ['0.0.0.0', true],
    ['255.255.255.255', true],
    ['1.2.3', false],
    ['1.2.3.4.5', false],
    ['01.2.3.4', false],
    ['1.2.3.256', false],
    ['', false],
  ])('%j is IPv4: %s', (text, expected) => expect(isIPv4(text)).toBe(expected))

  it.each([
    ['::', true],
    ['::1', true],
    ['1::', true],
    ['1:2:3:4:5:6:7:8', true],
    ['1:2:3:4:5:6:7::', true],
    ['::ffff:1.2.3.4', true],
    ['1:2:3:4:5:6:1.2.3.4', true],
    ['1:2:3:4:5:6:7', false],
    ['1:2:3:4:5:6:7:8:9', false],
    ['1:2:3:4:5:6:7:8::', false],
    ['1::2::3', false],
    [':', false],
    [':::', false],
    ['1:', false],
    ['12345::', false],
    ['g::', false],
    ['1.2.3.4::', false],
    ['fe80::1%eth0', false],
    ['', false],
  ])('%j is IPv6: %s', (text, expected) => expect(isIPv6(text)).toBe(expected))
})
