import { describe, expect, test } from 'vitest'
import { planOf } from '../../../support/plan/compose.ts'

const files = {
  'one.conf': 'same',
  'two.conf': 'same',
  'other.conf': 'other',
  // A name that every object inherits.
  constructor: 'same',
  'folder/a.conf': 'other',
  'folder/b.conf': 'more',
}

/** The ConfigMaps of a plan with the services that they belong to, and what each service mounts at `/etc/app.conf`. */
function sharing(compose: string) {
  const { plan } = planOf(compose, {}, files)
  const mountedBy = (service: string) => {
    const { pod } = plan.workloads.find(one => one.service === service)!
    const mount = pod.containers[0]!.mounts.find(({ path }) => path === '/etc/app.conf')!
    const volume = pod.volumes.find(({ name }) => name === mount.volume)!
    const map = plan.configMaps.find(({ name }) => volume.kind === 'configMap' && name === volume.configMap)
    return map && Buffer.from(map.data[mount.subPath!]!).toString()
  }
  return { maps: plan.configMaps.map(({ name, service }) => [name.replace(/-[0-9a-f]{8}$/, ''), service]), mountedBy }
}

const service = (name: string, file: string, more = '') =>
  `  ${name}: {image: x, volumes: ["./${file}:/etc/app.conf:ro"]${more}}\n`

describe('equal files', () => {
  test('equal files of several services are one ConfigMap of the application', () => {
    const { maps, mountedBy } = sharing(`services:\n${service('web', 'one.conf')}${service('api', 'two.conf')}`)
    expect(maps).toEqual([['app-one-conf', undefined]])
    expect([mountedBy('web'), mountedBy('api')]).toEqual(['same', 'same'])
  })

  test('a file with a name that every object inherits is not taken from a folder without it', () => {
    const own = service('web', 'constructor').replace('ro"]', 'ro", "./folder:/etc/folder:ro"]')
    expect(sharing(`services:\n${own}`).mountedBy('web')).toBe('same')
  })

  test('equal files of one service are one ConfigMap of that service', () => {
    const more = ', configs: []'
    const own = service('web', 'one.conf', more).replace('ro"]', 'ro", "./two.conf:/etc/two.conf:ro"]')
    expect(sharing(`services:\n${own}`).maps).toEqual([['app-one-conf', 'web']])
  })

  test('the ConfigMap of equal files has the name of the file, whichever service mounts it', () => {
    const alone = sharing(`services:\n${service('web', 'one.conf')}`).maps.map(([name]) => name)
    expect(sharing(`services:\n${service('api', 'one.conf')}${service('web', 'one.conf')}`).maps).toEqual([
      [alone[0], undefined],
    ])
  })

  test('a config with the content of a file and no labels is used for the file', () => {
    const config = (more: string) => `configs:\n  app: {content: same${more}}\n`
    const text = `services:\n${service('web', 'one.conf')}${service('api', 'other.conf', ', configs: [app]')}`
    expect(sharing(text + config('')).maps).toEqual([
      ['app-app', undefined],
      ['app-other-conf', 'api'],
    ])
    expect(sharing(text + config('')).mountedBy('web')).toBe('same')
    expect(sharing(text + config(', labels: {a: b}')).maps.length).toBe(3)
  })

  test('secret files stay with their services', () => {
    const text = `services:
  web: {image: x, volumes: ["./one.conf:/etc/app.conf:ro"]}
  api: {image: x, volumes: [{type: bind, source: ./one.conf, target: /etc/app.conf, read_only: true, x-mount: secret}]}
`
    const { plan } = planOf(text, { includeSecrets: true }, files)
    expect(plan.configMaps.map(({ service }) => service)).toEqual(['web'])
    expect(plan.secrets.map(({ service }) => service)).toEqual(['api'])
  })
})

describe('a file of a folder', () => {
  const folder = { 'conf/app.conf': 'app', 'conf/sub/more.conf': 'more', 'conf/b.conf': 'b', 'other/app.conf': 'app' }
  const planFolder = (services: string) => planOf(`services: {${services}}`, {}, folder)
  const namesOf = ({ plan }: ReturnType<typeof planFolder>) => plan.configMaps.map(({ name }) => name.slice(0, -9))
  /** The name and key of the ConfigMap that a service mounts at a path, and its content there. */
  const mounted = ({ plan, pod }: ReturnType<typeof planFolder>, service: string, path: string) => {
    const { containers, volumes } = pod(service)
    const { subPath = '', volume } = containers[0]!.mounts.find(one => one.path === path)!
    const held = volumes.find(({ name }) => name === volume)
    const map = plan.configMaps.find(({ name }) => held?.kind === 'configMap' && held.configMap === name)!
    return [map.name.slice(0, -9), subPath, Buffer.from(map.data[subPath]!).toString()]
  }
  const both = (file: string) => `image: x, volumes: ["./conf:/etc/conf:ro", "./${file}:/etc/file:ro"]`

  test.each([
    ['conf/app.conf', 'app.conf', 'app'],
    ['other/app.conf', 'app.conf', 'app'],
    ['conf/sub/more.conf', expect.stringContaining('more.conf'), 'more'],
  ])('a file that a service mounts with its folder is that of the folder: %s', (file, key, content) => {
    const found = planFolder(`a: {image: x, volumes: ["./conf:/etc/conf:ro"]}, b: {${both(file)}}`)
    expect(namesOf(found)).toEqual(['app-conf'])
    expect(mounted(found, 'b', '/etc/file')).toEqual(['app-conf', key, content])
  })

  test('a file outside of mounted folders, or with other content, has its own ConfigMap', () => {
    const other = '{image: x, volumes: ["./conf/app.conf:/etc/file:ro"]}'
    expect(namesOf(planFolder(`a: {image: x, volumes: ["./conf:/etc/conf:ro"]}, b: ${other}`))).toEqual([
      'app-app-conf',
      'app-conf',
    ])
    const changed = planOf(`services: {b: {${both('other/app.conf')}}}`, {}, { ...folder, 'other/app.conf': 'new' })
    expect(namesOf(changed)).toHaveLength(2)
  })

  test('a service that only mounts the file does not change the Pods of others', () => {
    const alone = planFolder(`b: {${both('conf/app.conf')}}`)
    const found = planFolder(`b: {${both('conf/app.conf')}}, c: {image: x, volumes: ["./conf/app.conf:/etc/file:ro"]}`)
    expect(namesOf(found)).toEqual(['app-app-conf', 'app-conf'])
    expect(found.pod('b')).toEqual(alone.pod('b'))
    expect(mounted(found, 'c', '/etc/file')).toEqual(['app-app-conf', 'app.conf', 'app'])
  })

  test('a file is mounted with the files of a smaller folder', () => {
    const found = planFolder(
      'b: {image: x, volumes: ["./conf:/etc/conf:ro", "./conf/sub:/etc/sub:ro", "./conf/sub/more.conf:/etc/file:ro"]}',
    )
    expect(namesOf(found)).toEqual(['app-conf'])
    const volumes = found
      .pod('b')
      .volumes.flatMap(one => (one.kind === 'configMap' ? [one.items?.map(({ path }) => path)] : []))
    expect(volumes).toContainEqual(['more.conf'])
  })
})
