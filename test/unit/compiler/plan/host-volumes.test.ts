import { describe, expect, test } from 'vitest'
import { planOf } from '../../../support/plan/compose.ts'

const files = {
  'site.conf': 'listen 80;',
  'run.sh': '#!/bin/sh',
  'conf/a.conf': 'a',
  'conf/sub/b.conf': 'b',
  'empty/': '',
  'big/data.bin': 'x'.repeat(1_100_000),
  'big.bin': 'x'.repeat(1_100_000),
  'tls/server.key': 'k',
  '.env.production': 'A=1',
  '/shared/x.conf': 'x',
  '/etc/localtime': 'tz',
  '/run/docker.sock': '',
}
const mount = (spec: string, options = {}) => planOf(`services: {web: {image: w, volumes: [${spec}]}}`, options, files)
const decoded = (data: Readonly<Record<string, Uint8Array>>) =>
  Object.fromEntries(Object.entries(data).map(([key, bytes]) => [key, new TextDecoder().decode(bytes)]))

describe('host volumes of a service with an image', () => {
  test('a file becomes a ConfigMap with a hash of its content', () => {
    const { plan, pod, container, lines } = mount('"./site.conf:/etc/nginx/site.conf:ro"')
    const [map] = plan.configMaps
    expect(map!.name).toMatch(/^app-site-conf-[0-9a-f]{8}$/)
    expect(map!.service).toBe('web')
    expect(decoded(map!.data)).toEqual({ 'site.conf': 'listen 80;' })
    expect(pod('web').volumes).toEqual([{ kind: 'configMap', name: 'host-etc-nginx-site-conf', configMap: map!.name }])
    expect(container('web').mounts).toEqual([
      { volume: 'host-etc-nginx-site-conf', path: '/etc/nginx/site.conf', subPath: 'site.conf', readOnly: true },
    ])
    expect(lines).toEqual(['info volumes/host-copied: ./site.conf'])
  })

  test('an executable file keeps its mode', () => {
    expect(mount('"./run.sh:/run.sh"').pod('web').volumes[0]).toMatchObject({ mode: 0o755 })
  })

  test('a folder keeps its structure', () => {
    const { plan, pod, container } = mount('"./conf:/conf:ro"')
    expect(decoded(plan.configMaps[0]!.data)).toEqual({ 'a.conf': 'a', 'sub__b.conf': 'b' })
    expect(pod('web').volumes[0]).toMatchObject({
      items: [
        { key: 'a.conf', path: 'a.conf' },
        { key: 'sub__b.conf', path: 'sub/b.conf' },
      ],
    })
    expect(container('web').mounts).toEqual([{ volume: 'host-conf', path: '/conf', readOnly: true }])
  })

  test.each([
    ['"./conf:/conf"', 'volumes/host-read-only'],
    ['"./missing:/data"', 'volumes/host-claim'],
    ['"./empty:/data"', 'volumes/host-claim'],
    ['"./missing:/data:ro"', 'volumes/host-missing'],
    ['"./empty:/data:ro"', 'volumes/host-untracked'],
    ['{type: bind, source: ./missing, target: /data}', 'volumes/host-claim'],
    ['{type: bind, source: ./missing, target: /data, bind: {create_host_path: false}}', 'volumes/host-missing'],
    ['"./missing.conf:/etc/x.conf"', 'volumes/host-missing'],
    ['"./Caddyfile:/etc/caddy/Caddyfile"', 'volumes/host-missing'],
    ['"./conf.d:/etc/conf.d"', 'volumes/host-claim'],
    ['"./CONF:/conf"', 'volumes/host-case'],
    ['"~/.aws:/root/.aws"', 'volumes/host-claim'],
    ['"~/.aws:/root/.aws:ro"', 'volumes/host-claim'],
    ['{type: bind, source: ~/data, target: /data, read_only: true}', 'volumes/host-claim'],
    ['{type: bind, source: ~/data, target: /data, bind: {create_host_path: false}}', 'volumes/host-missing-outside'],
    ['"~/.npmrc:/root/.npmrc"', 'volumes/host-missing-outside'],
    ['"~/.ssh/known_hosts:/root/.ssh/known_hosts:ro"', 'volumes/host-missing-outside'],
    ['"~/.docker/config.json:/root/.docker/config.json"', 'volumes/host-missing-outside'],
    ['"/srv/none:/data:ro"', 'volumes/host-missing-outside'],
    ['"/srv/none:/data"', 'volumes/host-claim'],
    ['"./big:/data"', 'volumes/host-too-large'],
    ['"./big:/data:ro"', 'volumes/host-too-large'],
    ['"./big.bin:/data.bin:ro"', 'volumes/host-too-large'],
    ['"./tls:/tls"', 'volumes/host-secret'],
    ['"./.env.production:/app/.env"', 'volumes/host-secret'],
    ['"/shared/x.conf:/x.conf"', 'volumes/host-secret'],
    ['"../shared/x.conf:/x.conf"', 'volumes/host-secret'],
    ['"/run/docker.sock:/run/docker.sock"', 'volumes/host-socket'],
    ['"/var/run/docker.sock:/var/run/docker.sock:ro"', 'volumes/host-socket'],
    ['"/dev/snd:/dev/snd"', 'volumes/host-socket'],
    ['"/etc/localtime:/etc/localtime:ro"', 'volumes/host-socket'],
    ['"/proc:/host/proc:ro"', 'volumes/host-system'],
    ['"/lib/modules:/lib/modules"', 'volumes/host-system'],
    ['"/dev/disk/:/dev/disk:ro"', 'volumes/host-system'],
    ['"/dev/disk/by-id:/dev/disk/by-id:ro"', 'volumes/host-system'],
    ['"/dev/disk/by-id/ata-1:/dev/sda"', 'volumes/host-socket'],
    ['"/dev/diskette:/dev/diskette"', 'volumes/host-socket'],
  ])('%s is reported', (spec, code) => {
    expect(mount(spec).codes).toEqual([code])
  })

  test('a missing folder becomes a claim that keeps data, and is not filled', () => {
    const { plan, workload } = mount('"./missing:/var/lib/data"')
    expect(plan.claims.map(({ name, service, spec }) => [name, service, spec.size])).toEqual([
      ['missing', 'web', '1Gi'],
    ])
    expect(workload('web').kind).toBe('StatefulSet')
    expect(workload('web').pod.fills).toEqual([])
  })

  test('a missing folder in the home directory becomes a claim without the name of the user', () => {
    const { plan, container } = planOf('services: {web: {image: w, read_only: true, volumes: ["~/.app/data:/data"]}}')
    expect(plan.claims.map(({ name }) => name)).toEqual(['home-app-data'])
    expect(container('web').mounts).toEqual([{ volume: 'home-app-data', path: '/data', subPath: 'home-app-data' }])
  })

  test('a missing read-only folder outside of the project becomes an empty folder', () => {
    const { container, pod, workload } = mount('"/srv/none:/data:ro"')
    expect(pod('web').volumes).toEqual([{ kind: 'empty', name: 'data' }])
    expect(container('web').mounts).toEqual([{ volume: 'data', path: '/data', readOnly: true }])
    expect(workload('web').kind).toBe('Deployment')
    expect(mount('"/srv/none.conf:/etc/none.conf:ro"').pod('web').volumes).toEqual([])
  })

  test.each([
    ['"./tls:/tls:ro"', { 'server.key': 'k' }],
    ['"/shared/x.conf:/x.conf:ro"', { 'x.conf': 'x' }],
  ])('%s becomes a Secret without a hash', (spec, data) => {
    const { plan, codes } = mount(spec)
    expect(codes).toEqual([])
    expect(plan.configMaps).toEqual([])
    expect(plan.secrets.map(({ name }) => name)).toEqual([expect.not.stringMatching(/[0-9a-f]{8}$/)])
    expect(decoded(plan.secrets[0]!.data)).toEqual(data)
  })

  test('a deploy leaves a large writable folder to `up`, and plans a claim in its place', () => {
    const { plan, container, lines } = mount('"./big:/data"', { leavesFoldersToUp: true })
    expect(plan.claims.map(({ name }) => name)).toEqual(['big'])
    expect(container('web').mounts).toEqual([expect.objectContaining({ path: '/data', subPath: 'big' })])
    expect(lines).toEqual(['warning volumes/host-for-up: ./big'])
    // Folders that are only read, and files, are not left to `up`.
    expect(mount('"./big:/data:ro"', { leavesFoldersToUp: true }).codes).toEqual(['volumes/host-too-large'])
    expect(mount('"./big.bin:/data"', { leavesFoldersToUp: true }).codes).toEqual(['volumes/host-too-large'])
  })

  test('a large read-only folder is expected in the image that an option gives', () => {
    const { codes, container } = mount('"./big:/data:ro"', { images: new Map([['web', 'r.example.com/web:1']]) })
    expect(codes).toEqual(['volumes/host-expected-in-image'])
    expect(container('web')).toMatchObject({ image: 'r.example.com/web:1', mounts: [] })
  })

  test('a system folder is mounted from the node', () => {
    const { pod, plan } = mount('"/proc:/host/proc:ro"')
    expect(pod('web').volumes).toEqual([{ kind: 'hostPath', name: 'host-proc', path: '/proc' }])
    expect(plan.security.level).toBe('privileged')
    expect(mount('"/proc:/host/proc:ro"', { policy: 'restricted' }).codes).toContain('security/not-restricted')
  })

  test('the claim of a folder does not collide with a volume of the same name', () => {
    const { plan } = planOf(`
services: {web: {image: w, volumes: ["./data:/data", "data:/other"]}}
volumes: {data: }
`)
    expect(plan.claims.map(({ name }) => name)).toEqual(['data', expect.stringMatching(/^data-[0-9a-f]{5}$/)])
  })

  test('folders whose names become equal have separate claims', () => {
    const { plan } = mount('"./a/b:/one", "./a-b:/two"')
    const names = plan.claims.map(({ name }) => name)
    expect(new Set(names).size).toBe(2)
    expect(names).toEqual([expect.stringMatching(/^a-b(-[0-9a-f]{5})?$/), expect.stringMatching(/^a-b-[0-9a-f]{5}$/)])
  })
})

describe('files that git tracks', () => {
  const text = (spec: string) => `services: {web: {image: w, volumes: [${spec}]}}`
  const withTracked = (spec: string, tracked: readonly string[] | false) => planOf(text(spec), {}, files, tracked)

  test('files that git tracks decide, not the files on disk', () => {
    const here = withTracked('"./conf:/conf"', ['compose.yaml'])
    const elsewhere = planOf(text('"./conf:/conf"'), {}, {}, ['compose.yaml'])
    expect(here.plan.claims).toEqual(elsewhere.plan.claims)
    expect(here.codes).toEqual(['volumes/host-claim'])
    expect(elsewhere.codes).toEqual(['volumes/host-claim'])
  })

  test('large untracked files beside tracked ones are left out', () => {
    const { plan, codes } = planOf(text('"./big:/big:ro"'), {}, { ...files, 'big/small.txt': 'x' }, ['big/small.txt'])
    expect(codes).toEqual(['volumes/host-left-out'])
    expect(plan.configMaps.map(({ data }) => decoded(data))).toEqual([{ 'small.txt': 'x' }])
  })

  test.each([[['compose.yaml', 'conf/a.conf']], [false as const]])('`.git` is not reported as omitted: %j', tracked => {
    const all = { 'conf/a.conf': 'a', 'conf/.git/HEAD': 'x', '.git/HEAD': 'x' }
    const { codes } = planOf(text('".:/app:ro"'), {}, all, tracked)
    expect(codes).not.toContain('volumes/host-left-out')
  })

  test('a checkout that tracks no file of the project is ignored', () => {
    const { plan, codes } = withTracked('"./conf:/conf:ro"', [])
    expect(codes).toEqual(['volumes/host-unversioned'])
    expect(plan.configMaps).toHaveLength(1)
  })

  test('one warning names what is copied from a project outside of a git checkout', () => {
    const { diagnostics } = withTracked('"./conf:/conf:ro", "./site.conf:/site.conf:ro"', false)
    expect(diagnostics.filter(({ severity }) => severity === 'warning').map(({ message }) => message)).toEqual([
      'the project is not in a git checkout: the files on this machine are copied, in `./conf` and 1 more',
    ])
  })
})

test('paths that the Dockerfile of a built service copies are not mounted', () => {
  const { pod, lines } = planOf(
    'services: {web: {build: ., volumes: ["./big:/data", "./tls:/app/tls", "./conf:/etc/conf:ro", "./big:/elsewhere"]}}',
    {},
    { ...files, Dockerfile: 'FROM x\nWORKDIR /app\nCOPY . .\nCOPY big/ /data/' },
  )
  expect(pod('web').volumes).toEqual([expect.objectContaining({ kind: 'configMap', name: 'host-etc-conf' })])
  expect(lines).toEqual([
    'info volumes/synchronized: ./big',
    'info volumes/synchronized: ./tls',
    'info volumes/host-copied: ./conf',
    'warning volumes/host-not-in-image: ./big',
  ])
})

test.each([
  ['an untracked folder', { 'dist/f': 'f' }, 'git tracks no files in it', '`x-mount: config`'],
  ['a missing folder', {}, 'it does not exist', '`x-mount: claim`'],
])('%s that the Dockerfile does not copy is reported with its state', (_, more, why, hint) => {
  const { diagnostics } = planOf(
    'services: {web: {build: ., volumes: ["./dist:/srv/dist:ro"]}}',
    {},
    { ...more, Dockerfile: 'FROM x' },
    ['Dockerfile'],
  )
  const found = diagnostics.find(({ code }) => code === 'volumes/host-not-in-image')
  expect(found?.message).toContain(why)
  expect(found?.hint).toContain(hint)
})

describe('a bind mount of the local driver', () => {
  const bound = (o: string, target = '/data') =>
    planOf(
      `services: {web: {image: w, volumes: ["v:${target}"]}}\nvolumes: {v: {driver_opts: {type: none, o: "${o}", device: ./conf}}}`,
      {},
      { 'conf/a': 'a' },
    )

  test.each([
    ['bind', ['volumes/host-read-only']],
    ['rbind,rw', ['volumes/host-read-only']],
    ['bind,ro', []],
    ['rbind,ro', []],
    ['bind,ro,noatime', ['volumes/driver-option']],
  ])('the files of the folder are mounted with the options %s', (o, codes) => {
    const { pod, codes: found } = bound(o)
    expect(pod('web').volumes).toEqual([expect.objectContaining({ kind: 'configMap' })])
    expect(found).toEqual(codes)
  })

  test('options without bind are reported, because the claim does not have them', () => {
    const { pod, lines } = bound('noatime')
    expect(pod('web').volumes).toEqual([expect.objectContaining({ kind: 'claim' })])
    expect(lines.filter(line => line.includes('driver-option'))).toEqual([
      'warning volumes/driver-option: "noatime"',
      'warning volumes/driver-option: ./conf',
    ])
  })
})

describe('a data folder in a copied folder', () => {
  const all = { 'conf/a.conf': 'a', 'conf/..data': 'd' }
  const mounts = (services: string, service = 'web') =>
    planOf(`services: {${services}}`, {}, all)
      .container(service)
      .mounts.map(({ path, volume, subPath, readOnly }) => [path, volume, subPath, readOnly])

  test.each([
    ['of the same service', 'web: {image: w, volumes: [".:/sources", "./logs:/logs"]}', [['/logs', 'logs', 'logs']]],
    ['of another one', 'web: {image: w, volumes: [".:/sources"]}, db: {image: d, volumes: ["./logs:/logs"]}', []],
  ])('a data folder in a copied folder is mounted there: %s', (_, services, more) => {
    expect(mounts(services)).toEqual([
      ['/sources', 'host-sources', undefined, true],
      ['/sources/logs', 'logs', 'logs', undefined],
      ...more.map(mount => [...mount, undefined]),
    ])
  })

  test('a data folder keeps the mount that the service already has there', () => {
    expect(mounts('web: {image: w, volumes: [".:/sources:ro", "./logs:/sources/logs"]}')).toEqual([
      ['/sources', 'host-sources', undefined, true],
      ['/sources/logs', 'logs', 'logs', undefined],
    ])
    const covered = 'web: {image: w, volumes: [".:/sources"], tmpfs: /x}, db: {image: d, volumes: ["./var/logs:/logs"]}'
    expect(mounts(covered).map(([path]) => path)).toContain('/sources/var/logs')
    expect(
      mounts(covered.replace('".:/sources"', '".:/sources", {type: tmpfs, target: /sources/var}')).map(
        ([path]) => path,
      ),
    ).not.toContain('/sources/var/logs')
  })

  test('a data folder is read-only if the copied folder is', () => {
    const services =
      'web: {image: w, volumes: [".:/html:ro"]}, app: {image: a, volumes: ["./uploads/a:/a", "./uploads:/b"]}'
    expect(mounts(services)).toEqual([
      ['/html', 'host-html', undefined, true],
      ['/html/uploads', 'uploads', 'uploads', true],
    ])
  })

  test('a data folder has a place in the copied folder, even if that is a Secret', () => {
    const { pod } = planOf(
      'services: {web: {image: w, volumes: ["./tls:/tls:ro"]}, app: {image: a, volumes: ["./tls/new:/new"]}}',
      {},
      { 'tls/server.key': 'k' },
    )
    expect(pod('web').volumes[0]).toMatchObject({ kind: 'projected', folders: ['new'] })
  })

  test('a data folder is a claim of both services, so that a deploy of either includes it', () => {
    const { plan } = planOf(
      'services: {db: {image: d, volumes: ["./data:/d"]}, a: {image: w, volumes: [".:/x"]}}',
      {},
      all,
    )
    expect(plan.claims.map(({ name, service, source }) => [name, service, source])).toEqual([
      ['data', undefined, 'compose.yaml#services.db.volumes'],
    ])
  })

  test('a data folder does not make a service that only copies it a StatefulSet', () => {
    const { workload } = planOf(
      'services: {web: {image: w, volumes: [".:/x"]}, db: {image: d, volumes: ["./data:/d"]}}',
      {},
      all,
    )
    expect([workload('web').kind, workload('db').kind]).toEqual(['Deployment', 'StatefulSet'])
    expect(workload('web').pod.colocate).toEqual(workload('db').pod.colocate)
  })

  test('a data folder is not mounted into a service that runs on every node', () => {
    const { pod, codes } = planOf(
      'services: {web: {image: w, deploy: {mode: global}, volumes: [".:/x:ro"]}, db: {image: d, volumes: ["./data:/d"]}}',
      {},
      all,
    )
    expect(pod('web').volumes.map(({ kind }) => kind)).toEqual(['configMap'])
    expect(codes).toEqual(['volumes/host-claim'])
  })
})

describe('files whose names start with two dots', () => {
  const dots = { 'conf/..data': 'd', 'conf/plain': 'p', 'conf/..sub/a': 'a', 'in/sub/..x': 'x', 'one.conf': '1' }
  const planned = (volumes: string, more = '') =>
    planOf(`services: {web: {image: w, volumes: [${volumes}]${more}}}`, {}, dots)

  test('files named with two dots are in a folder, since the kubelet uses such names at the top', () => {
    const { pod, container, plan } = planned('"./conf:/conf:ro"')
    expect(Object.keys(plan.configMaps[0]!.data).filter(key => key.startsWith('..'))).toEqual([])
    expect(pod('web').volumes[0]).toMatchObject({
      items: [{ path: 'files/..data' }, { path: 'files/..sub/a' }, { path: 'files/plain' }],
    })
    expect(container('web').mounts).toEqual([{ volume: 'host-conf', path: '/conf', subPath: 'files', readOnly: true }])
  })

  test('files named with two dots may be in subfolders of the volume', () => {
    const { pod, container } = planned('"./in:/in:ro"')
    expect(pod('web').volumes[0]).toMatchObject({ items: [{ path: 'sub/..x' }] })
    expect(container('web').mounts).toEqual([{ volume: 'host-in', path: '/in', readOnly: true }])
  })

  test.each([
    ['a file', '"./in:/in:ro", "./one.conf:/in/..one:ro"', 'files/..one'],
    ['a folder', '"./in:/in:ro", "./conf:/in/..conf:ro"', 'files/..conf/plain'],
  ])('%s named with two dots may be mounted into a copied folder', (_, volumes, path) => {
    const { pod, container } = planned(volumes)
    const [volume] = pod('web').volumes
    const sources = volume?.kind === 'projected' ? volume.sources : []
    expect(sources.flatMap(({ items }) => items.map(one => one.path))).toContain(path)
    expect(sources.flatMap(({ items }) => items.map(one => one.path))).toContain('files/sub/..x')
    expect(container('web').mounts).toEqual([{ volume: 'host-in', path: '/in', subPath: 'files', readOnly: true }])
  })

  test('the folder of a claim may be named with two dots', () => {
    const { pod } = planned('"./in:/in:ro", "./in/..logs:/in/..logs"')
    expect(pod('web').volumes).toContainEqual(expect.objectContaining({ kind: 'projected', folders: ['files/..logs'] }))
  })
})

describe('owner of the claim of a host folder', () => {
  const fills = (keys: string, options = {}, all: Readonly<Record<string, string>> = {}) =>
    planOf(`services: {web: {volumes: ["./data:/data"], ${keys}}}`, options, all).pod('web').fills

  const configs = (User: string) => ({ imageConfigs: new Map([['web', { User }]]) })

  test.each([
    ['image: w, user: "1000"', {}, { user: '1000' }],
    ['image: w, user: "1000:1000"', {}, { user: '1000', group: '1000' }],
    ['image: w, user: 50000:0', {}, { user: '50000', group: '0' }],
    ['image: w', configs('472'), { user: '472' }],
    ['image: w', configs('node'), { user: 'node' }],
    ['image: w', configs('node:staff'), { user: 'node', group: 'staff' }],
    ['image: w, user: "1000"', configs('node'), { user: '1000' }],
    // A name is left out, and the container runs as the user of the image.
    ['image: w, user: app', configs('472'), { user: '472' }],
  ])('the claim belongs to the user of its service: %s', (keys, options, owner) => {
    expect(fills(keys, options)).toEqual([
      expect.objectContaining({
        volume: 'data',
        directory: 'data',
        isEmpty: true,
        owner: { ...owner, isShared: false },
      }),
    ])
  })

  test.each([
    ['image: w', {}],
    ['image: w, user: root', configs('472')],
    ['image: w, user: "0:0"', {}],
    ['image: w', configs('')],
    ['image: w', configs('0')],
  ])('the claim has no owner if the user is root or not known: %s', (keys, options) => {
    expect(fills(keys, options)).toEqual([])
  })

  test('the claim has an owner even if the image is built and fills it', () => {
    const all = { Dockerfile: 'FROM x\nUSER 1000' }
    expect(fills('build: .', {}, all)).toEqual([
      expect.objectContaining({ path: '/data', owner: { user: '1000', isShared: false } }),
    ])
    expect(fills('build: .', {}, all)[0]).not.toHaveProperty('isEmpty')
  })

  test('the claim has no owner if its service only reads it', () => {
    const { pod } = planOf(
      'services: {web: {image: w, user: "5", volumes: ["./d:/d:ro"]}, app: {image: a, volumes: ["./d:/d"]}}',
    )
    expect(pod('web').fills).toEqual([])
  })

  test('a named volume keeps the owner that its image gives it, as in Compose', () => {
    const { pod } = planOf('services: {web: {image: w, user: "5", volumes: ["d:/d"]}}\nvolumes: {d: }')
    expect(pod('web').fills).toEqual([expect.not.objectContaining({ owner: expect.anything() })])
  })

  test('the group of the Pod may write to the claim if the policy forbids root', () => {
    const { pod } = planOf('services: {web: {image: w, user: "1000:1001", volumes: ["./d:/d"]}}', {
      policy: 'restricted',
    })
    expect(pod('web')).toMatchObject({ fills: [], fsGroup: 1001 })
  })

  test('a folder that several users write to is writable for all of them', () => {
    const shared = (one: string, two: string) =>
      planOf(
        `services: {one: {image: w, user: "${one}", volumes: ["./d:/d"]}, two: {image: w, user: "${two}", volumes: ["./d:/e"]}}`,
      ).pod('one').fills[0]!.owner
    expect(shared('1000', '1000:5')).toMatchObject({ isShared: false })
    expect(shared('1000', '1001')).toMatchObject({ user: '1000', isShared: true })
    expect(shared('1000', '0')).toMatchObject({ isShared: false })
  })
})
