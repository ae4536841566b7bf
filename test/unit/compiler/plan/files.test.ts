import { describe, expect, test } from 'vitest'
import { planOf } from '../../../support/plan/compose.ts'

describe('configs and secrets', () => {
  test('each mount is one file, with the path and mode of Compose', () => {
    const { pod, container, codes } = planOf(`
services:
  a:
    image: i
    configs: [plain, {source: plain, target: /etc/x, mode: 0o440}]
    secrets: [token, {source: token, target: other, mode: 0o400}]
configs: {plain: {content: text}}
secrets: {token: {environment: TOKEN, x-y: z}}
`)
    expect(codes.filter(code => !code.startsWith('secrets/'))).toEqual([])
    expect(container('a').mounts).toEqual([
      { volume: 'config-plain', path: '/plain', subPath: 'plain', readOnly: true },
      { volume: 'config-plain-2', path: '/etc/x', subPath: 'plain', readOnly: true },
      { volume: 'secret-token', path: '/run/secrets/token', subPath: 'token', readOnly: true },
      { volume: 'secret-token-2', path: '/run/secrets/other', subPath: 'token', readOnly: true },
    ])
    expect(pod('a').volumes.map(volume => ('mode' in volume ? volume.mode : undefined))).toEqual([
      0o444, 0o440, 0o444, 0o400,
    ])
  })

  test.each([
    ['user: "1000:1000"', 'mode: 0400', 0o404],
    ['user: "1000"', 'uid: "1000", gid: "1000", mode: 0440', 0o444],
    ['user: "1000"', 'uid: "1000"', 0o444],
    ['user: "1000"', 'mode: 0500', 0o505],
    ['user: "0:0"', 'mode: 0400', 0o400],
    ['user: root', 'mode: 0400', 0o400],
    ['x-note: none', 'mode: 0400', 0o400],
  ])('the user of a service with `%s` and `%s` can read the file', (user, fields, mode) => {
    const { pod, codes } = planOf(
      `services: {a: {image: i, ${user}, secrets: [{source: s, ${fields}}]}}\nsecrets: {s: {file: f}}`,
      {},
      { f: 'x' },
    )
    expect(pod('a').volumes).toMatchObject([{ mode }])
    expect(codes).not.toContain('files/owner')
  })

  test('only changed content changes the name of a config', () => {
    const name = (content: string) =>
      planOf(`services: {a: {image: i, configs: [c]}}\nconfigs: {c: {content: ${content}}}`).plan.configMaps[0]!.name
    expect(name('one')).toBe(name('one'))
    expect(name('one')).not.toBe(name('two'))
  })

  test('names that would become equal get a hash', () => {
    const { plan } = planOf(
      `services: {a: {image: i, secrets: [a_b, a-b]}}\nsecrets: {a_b: {file: f}, a-b: {file: f}}`,
      {},
      { f: 'x' },
    )
    expect(plan.secrets.map(({ name }) => name)).toEqual(['app-a-b', expect.stringMatching(/^app-a-b-[0-9a-f]{5}$/)])
  })

  test('external objects are referenced by their own name', () => {
    const { plan, pod, container, codes } = planOf(`
services: {a: {image: i, configs: [c], secrets: [s]}}
configs: {c: {external: true, name: real}}
secrets: {s: {external: true}}
`)
    expect(codes).toEqual([])
    expect(plan.configMaps).toEqual([])
    expect(plan.secrets).toEqual([])
    expect(pod('a').volumes).toEqual([
      { kind: 'configMap', name: 'config-c', configMap: 'real', mode: 0o444 },
      { kind: 'secret', name: 'secret-s', secret: 's', mode: 0o444 },
    ])
    expect(container('a').mounts.map(({ subPath }) => subPath)).toEqual(['real', 's'])
  })

  test('objects are created only for mounted configs and secrets', () => {
    expect(planOf('services: {a: {image: i}}\nconfigs: {c: {content: x}}').plan.configMaps).toEqual([])
  })

  test.each([
    ['uid: "1000"', ['files/owner']],
    ['gid: "1000"', ['files/owner']],
    ['uid: "0"', []],
  ])('an owner of a config other than root is reported: %s', (field, reported) => {
    expect(
      planOf(`services: {a: {image: i, configs: [{source: c, ${field}}]}}\nconfigs: {c: {content: x}}`).codes,
    ).toEqual(reported)
  })

  test('a config of more than a MiB is refused', () => {
    const { codes } = planOf(
      'services: {a: {image: i, configs: [c]}}\nconfigs: {c: {file: f}}',
      {},
      { f: 'x'.repeat(1_048_577) },
    )
    expect(codes).toEqual(['files/too-large'])
  })
})
