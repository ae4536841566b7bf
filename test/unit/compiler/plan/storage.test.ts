import { describe, expect, test } from 'vitest'
import type { StatefulSetPlan } from '../../../../compiler/plan/plan.ts'
import { planOf } from '../../../support/plan/compose.ts'

const volume = (definition: string, fields = 'volumes: ["data:/data"]', options = {}) =>
  planOf(`services: {db: {image: db:1, ${fields}}}\nvolumes: {data: ${definition}}`, options)

describe('a named volume', () => {
  test.each([
    ['', { name: 'data', size: '1Gi', accessMode: 'ReadWriteOnce' }],
    [
      '{driver_opts: {size: 10Gi, class: fast}}',
      { name: 'data', size: '10Gi', accessMode: 'ReadWriteOnce', storageClass: 'fast' },
    ],
    ['{driver_opts: {size: 10g}}', { name: 'data', size: '10Gi', accessMode: 'ReadWriteOnce' }],
    ['{driver_opts: {size: 500M}}', { name: 'data', size: '500M', accessMode: 'ReadWriteOnce' }],
    ['{driver_opts: {access: ReadWriteMany}}', { name: 'data', size: '1Gi', accessMode: 'ReadWriteMany' }],
    ['{name: My_Data}', { name: 'my-data', size: '1Gi', accessMode: 'ReadWriteOnce' }],
  ])('the claim follows from the definition "%s"', (definition, spec) => {
    const { plan, codes } = volume(definition)
    expect(codes).toEqual([])
    expect(plan.claims.map(one => one.spec)).toEqual([spec])
  })

  test.each([
    ['{driver_opts: {size: big}}', 'volumes/bad-size'],
    ['{driver_opts: {size: "0"}}', 'volumes/bad-size'],
    ['{driver_opts: {access: everybody}}', 'volumes/bad-access'],
    ['{driver: rclone}', 'volumes/driver'],
    ['{driver_opts: {sice: 1Gi}}', 'volumes/driver-option'],
    ['{driver_opts: {type: nfs}}', 'volumes/nfs-incomplete'],
  ])('%s is reported', (definition, code) => {
    expect(volume(definition).codes).toContain(code)
  })

  test("labels become annotations, devctl's own among them", () => {
    expect(volume('{labels: {dev.platform/policy: keep}}').plan.claims[0]!.annotations).toEqual({
      'dev.platform/policy': 'keep',
    })
  })

  test('a volume at two paths is one volume of the Pod, filled once', () => {
    const { pod, container } = volume('', 'volumes: ["data:/a", "data:/b:ro"]')
    expect(pod('db').volumes).toEqual([{ kind: 'claim', name: 'data', claim: 'data' }])
    expect(container('db').mounts).toEqual([
      { volume: 'data', path: '/a', subPath: 'data' },
      { volume: 'data', path: '/b', subPath: 'data', readOnly: true },
    ])
    expect(pod('db').fills.map(({ path }) => path)).toEqual(['/a'])
  })

  test('a subpath is below the folder of the volume', () => {
    const { container, pod } = volume('', 'volumes: [{type: volume, source: data, target: /d, volume: {subpath: a/b}}]')
    expect(container('db').mounts[0]!.subPath).toBe('data/a/b')
    expect(pod('db').fills).toEqual([])
  })

  test('an external volume is referenced, mounted as a whole and never filled', () => {
    const { plan, container, pod, codes } = volume('{external: true, name: other}')
    expect(codes).toEqual([])
    expect(plan.claims).toEqual([])
    expect(pod('db').volumes).toEqual([{ kind: 'claim', name: 'other', claim: 'other' }])
    expect(container('db').mounts).toEqual([{ volume: 'other', path: '/data' }])
    expect(pod('db').fills).toEqual([])
  })

  test('a volume with the local driver may be nfs or tmpfs', () => {
    const nfs = volume('{driver_opts: {type: nfs, o: "addr=10.0.0.5,ro", device: ":/exports"}}')
    expect(nfs.pod('db').volumes).toEqual([{ kind: 'nfs', name: 'data', server: '10.0.0.5', path: '/exports' }])
    expect(nfs.container('db').mounts[0]).toMatchObject({ readOnly: true })
    const tmpfs = volume('{driver_opts: {type: tmpfs, device: tmpfs, o: size=100m}}')
    expect(tmpfs.pod('db').volumes).toEqual([{ kind: 'memory', name: 'data', sizeLimit: '100Mi' }])
  })

  test('a volume without a mount has no claim', () => {
    const { plan, lines } = planOf('services: {w: {image: w}}\nvolumes: {data: }')
    expect(plan.claims).toEqual([])
    expect(lines).toEqual(['info volumes/unused: data'])
  })
})

describe('two volumes whose claims have one name', () => {
  const planned = (a: string, b: string, volumes = '') =>
    planOf(`services: {a: {image: a, volumes: [${a}]}, b: {image: b, volumes: [${b}]}}\nvolumes: {${volumes}}`)

  test.each([
    ['a folder and a volume', '"./data:/d"', '"data:/d"', 'data: ', './data', true],
    ['a folder and a written name', '"./data:/d"', '"x:/d"', 'x: {name: data}', './data', true],
    ['a folder and an external volume', '"./data:/d"', '"x:/d"', 'x: {external: true, name: data}', './data', false],
    ['two folders', '"./a/b:/d"', '"./a-b:/d"', '', './a/b', true],
    ['a key and an external volume', '"data:/d"', '"x:/d"', 'data: , x: {external: true, name: data}', 'data', false],
    ['a key and a written name', '"data:/d"', '"x:/d"', 'data: , x: {name: data}', 'data', false],
    ['two keys', '"Data_1:/d"', '"data-1:/d"', 'Data_1: , data-1: ', 'Data_1', true],
  ])('%s are reported', (_, a, b, volumes, place, hasLonger) => {
    const { diagnostics } = planned(a, b, volumes)
    const taken = diagnostics.filter(({ code }) => code === 'volumes/claim-taken')
    expect(taken.map(({ message }) => message)).toEqual([expect.stringContaining(`\`${place}\` cannot have the claim`)])
    expect(taken[0]!.related).toHaveLength(1)
    expect(/`name: [a-z0-9-]+-[0-9a-f]{5}`/.test(taken[0]!.hint!)).toBe(hasLonger)
  })

  test.each([
    ['another path', '"./data:/d"', '"store:/d"', 'store: '],
    ['one written name', '"x:/d"', '"y:/d"', 'x: {name: data}, y: {name: data}'],
    ['one folder', '"./data:/d"', '"./data/sub:/d"', ''],
    ['a volume without a claim', '"./data:/d"', '"data:/d"', 'data: {driver_opts: {type: tmpfs}}'],
    ['a volume that nobody mounts', '"./data:/d"', '"./x:/d"', 'data: '],
    ['a written name that becomes valid', '"x:/d"', '"data:/d"', 'x: {name: My_Data}, data: '],
  ])('nothing is reported for %s', (_, a, b, volumes) => {
    expect(planned(a, b, volumes).codes).not.toContain('volumes/claim-taken')
  })

  test.each(['a-x: ', 'y: {name: a-x}', 'y: {external: true, name: a-x}'])(
    'an anonymous volume that volumes_from shares is reported beside %s',
    volume => {
      const { codes } = planOf(`
services:
  a: {image: a, volumes: [/x]}
  b: {image: b, volumes_from: [a], volumes: ["${volume.split(':')[0]}:/y"]}
volumes: {${volume}}
`)
      expect(codes).toContain('volumes/claim-taken')
    },
  )

  test('a volume with the name that the help contains has the data of the folder', () => {
    const before = planned('"./data:/d"', '"data:/d"', 'data: ')
    const [, name] = /`name: (.*?)`/.exec(before.diagnostics.find(({ hint }) => hint?.includes('name: '))!.hint!)!
    const after = planned('"folder:/d"', '"data:/d"', `data: , folder: {name: ${name}}`)
    expect(after.codes).toEqual([])
    expect(after.container('a').mounts).toEqual(before.container('a').mounts)
    expect(after.plan.claims.map(({ spec }) => spec)).toEqual(before.plan.claims.map(({ spec }) => spec))
  })
})

describe('copy-up', () => {
  test('copy-up does not happen with nocopy', () => {
    const { pod } = volume('', 'volumes: [{type: volume, source: data, target: /d, volume: {nocopy: true}}]')
    expect(pod('db').fills).toEqual([])
  })

  test('copy-up does not happen if all mounts are read-only', () => {
    expect(volume('{driver_opts: {access: ReadOnlyMany}}').pod('db').fills).toEqual([])
  })

  test('copy-up of a shared volume is done by services that may write', () => {
    const { pod } = planOf(`
services: {app: {image: a, volumes: ["s:/static"]}, web: {image: w, volumes: ["s:/html:ro"]}}
volumes: {s: }
`)
    expect(pod('app').fills.map(({ path }) => path)).toEqual(['/static'])
    expect(pod('web').fills).toEqual([])
  })

  test('copy-up runs without root under the restricted policy', () => {
    const { pod } = volume('', 'user: "999:1000", volumes: ["data:/data"]', { policy: 'restricted' })
    expect(pod('db')).toMatchObject({ runAsNonRoot: true, fsGroup: 1000 })
    expect(pod('db').fills[0]).toMatchObject({ rootless: true, security: { runAsUser: 999, runAsGroup: 1000 } })
  })
})

describe('an anonymous volume', () => {
  test('an anonymous volume of a StatefulSet is a claim template named after its path', () => {
    const { workload, container, pod } = planOf('services: {db: {image: i, volumes: [/var/lib/Data, /x]}}')
    expect(workload('db')).toMatchObject({
      claimTemplates: [
        { name: 'var-lib-data', size: '1Gi', accessMode: 'ReadWriteOnce' },
        { name: 'x', size: '1Gi', accessMode: 'ReadWriteOnce' },
      ],
    })
    expect(pod('db').volumes).toEqual([])
    expect(container('db').mounts[0]).toEqual({
      volume: 'var-lib-data',
      path: '/var/lib/Data',
      subPath: 'var-lib-data',
    })
    expect(pod('db').fills.map(({ volume: name, directory }) => [name, directory])).toEqual([
      ['var-lib-data', 'var-lib-data'],
      ['x', 'x'],
    ])
  })

  test.each(['restart: "no"', 'deploy: {mode: global}'])('a volume with %s has the lifetime of the Pod', fields => {
    const { pod } = planOf(`services: {a: {image: i, volumes: [/x], ${fields}}}`)
    expect(pod('a').volumes).toEqual([
      { kind: 'ephemeral', name: 'x', spec: { name: 'x', size: '1Gi', accessMode: 'ReadWriteOnce' } },
    ])
  })

  test('a volume below an unmounted host volume is left out and does not affect the kind', () => {
    const { workload, lines } = planOf(
      'services: {w: {build: ., volumes: ["./src:/app", /app/node_modules]}}',
      {},
      {
        Dockerfile: 'FROM node\nCOPY src /app',
        'src/a.js': '1',
      },
    )
    expect(workload('w').kind).toBe('Deployment')
    expect(workload('w').pod.volumes).toEqual([])
    expect(lines).toEqual(['info volumes/synchronized: ./src', 'info volumes/below-host-volume: /app/node_modules'])
  })

  test.each([
    [
      'labels of the service may change, and are left out',
      '{org.example/version: "1.0", dev.platform/update: rolling}',
    ],
    ['a label that only looks like protection is left out', '{helm.sh/resource-policy: remove}'],
    ['labels that protect from deletion stay', '{dev.platform/policy: keep}', { 'dev.platform/policy': 'keep' }],
    ['so do those of other tools', '{helm.sh/resource-policy: keep}', { 'helm.sh/resource-policy': 'keep' }],
  ])('a claim template has annotations that last: %s', (_, labels, annotations?: object) => {
    const { workload } = planOf(`services: {db: {image: i, labels: ${labels}, volumes: [/x]}}`)
    expect(workload('db')).toMatchObject({ claimTemplates: [{ name: 'x' }] })
    expect((workload('db') as StatefulSetPlan).claimTemplates[0]!.annotations).toEqual(annotations)
  })

  test.each([
    ['a named volume', '"data:/shared", /data', 'data-2'],
    ['a path that reads the same', '/a/b, /a-b', 'a-b-2'],
    ['no volume that comes later', '/data, "data:/shared"'],
    ['no other name', '"data:/shared", /var'],
  ])('a claim template that gives its name to %s is reported', (_, volumes, name?: string) => {
    const { workload, diagnostics } = planOf(`services: {a: {image: a, volumes: [${volumes}]}}\nvolumes: {data: }`)
    const templates = (workload('a') as StatefulSetPlan).claimTemplates.map(one => one.name)
    const found = diagnostics.filter(({ code }) => code === 'volumes/anonymous-name')
    expect(found.map(({ related }) => related?.length)).toEqual(name ? [1] : [])
    if (name) expect([templates.at(-1), found[0]!.message]).toEqual([name, expect.stringContaining(`\`${name}\``)])
  })

  test('an anonymous volume of a Pod may give its name away, as it keeps no data', () => {
    const volumes = 'volumes: ["data:/shared", /data], restart: "no"'
    expect(planOf(`services: {a: {image: a, ${volumes}}}\nvolumes: {data: }`).codes).toEqual([])
  })

  test.each([
    ['', ['data that it had without `volumes_from` stays in claims such as `x-a-0`']],
    [', network_mode: "service:c"', undefined],
  ])('sharing an anonymous volume%s is reported with both claims', (fields, notes) => {
    const { diagnostics, lines } = planOf(`
services: {a: {image: a, volumes: [/x, "n:/n"]${fields}}, b: {image: b, volumes_from: ["a:ro"]}, c: {image: c}}
volumes: {n: }
`)
    expect(lines).toEqual(['warning volumes/anonymous-shared: "a:ro"'])
    expect(diagnostics[0]).toMatchObject({ message: expect.stringContaining('`a-x`'), related: [{}] })
    expect(diagnostics[0]!.notes).toEqual(notes)
  })

  test('an anonymous volume is a separate claim if volumes_from shares it', () => {
    const { plan, pod } = planOf('services: {a: {image: a, volumes: [/x]}, b: {image: b, volumes_from: ["a:ro"]}}')
    expect(plan.claims.map(({ name, service }) => [name, service])).toEqual([['a-x', 'a']])
    expect(pod('b').containers[0]!.mounts).toEqual([{ volume: 'a-x', path: '/x', subPath: 'a-x', readOnly: true }])
    expect(pod('b').fills).toEqual([])
  })
})

test('tmpfs and shm_size are memory', () => {
  const { pod, codes } = planOf(`
services: {a: {image: i, shm_size: 256m, tmpfs: ["/run", "/tmp:size=64m,mode=1777"]}}
`)
  expect(pod('a').volumes).toEqual([
    { kind: 'memory', name: 'run' },
    { kind: 'memory', name: 'tmp', sizeLimit: '64Mi' },
    { kind: 'memory', name: 'shm', sizeLimit: '256Mi' },
  ])
  expect(codes).toEqual([])
  expect(planOf('services: {a: {image: i, tmpfs: ["/x:mode=0700"]}}').codes).toEqual(['tmpfs/option'])
})

test.each([
  ['the service that it names', 'cam: {image: c, ipc: shareable, shm_size: 1g}, ai: {image: a, ipc: "service:cam"}'],
  ['a container', 'cam: {image: c, container_name: x, shm_size: 1g}, ai: {image: a, ipc: "container:x"}'],
  [
    'the service at the end of a chain, whatever its own size',
    'cam: {image: c, shm_size: 1g}, ai: {image: a, ipc: "service:b", shm_size: 2g}, b: {image: b, ipc: "service:cam"}',
  ],
])('a service that joins the IPC of another one has the shared memory of %s', (_, services) => {
  const { pod } = planOf(`services: {${services}}`)
  expect(pod('cam').volumes).toEqual([{ kind: 'memory', name: 'shm', sizeLimit: '1Gi' }])
  for (const { mounts } of pod('cam').containers) expect(mounts).toEqual([{ volume: 'shm', path: '/dev/shm' }])
})

test.each([
  [
    'a service without a size shares the usual one',
    'cam: {image: c}, ai: {image: a, ipc: "service:cam", shm_size: 1g}',
  ],
  ['a mount replaces it', 'cam: {image: c, shm_size: 1g}, ai: {image: a, ipc: "service:cam", tmpfs: [/dev/shm]}'],
  ['another namespace does not share it', 'cam: {image: c, shm_size: 1g}, ai: {image: a, pid: "service:cam"}'],
])('shared memory is not mounted in the other container: %s', (_, services) => {
  const { pod } = planOf(`services: {${services}}`)
  expect(pod('cam').containers[1]!.mounts.filter(({ volume }) => volume === 'shm')).toEqual([])
})

test('a read-only tmpfs is mounted read-only, without a warning', () => {
  const { container, codes } = planOf('services: {a: {image: i, tmpfs: ["/x:ro"]}}')
  expect(container('a').mounts).toEqual([{ volume: 'x', path: '/x', readOnly: true }])
  expect(codes).toEqual([])
})

describe('shared volumes', () => {
  const two = (definition = '', web = '', options = {}) =>
    planOf(
      `services: {a: {image: a, volumes: ["d:/d"]}, b: {image: b, volumes: ["d:/d"]${web}}}\nvolumes: {d: ${definition}}`,
      options,
    )
  const label = 'dev.platform/volume-d'

  test('shared volumes place their Pods on one node', () => {
    for (const name of ['a', 'b'])
      expect(two().pod(name)).toMatchObject({ colocate: [label], labels: { [label]: 'true' } })
    expect(two().codes).toEqual([])
  })

  test.each([
    ['one workload', planOf('services: {a: {image: a, volumes: ["d:/d"]}}\nvolumes: {d: }')],
    ['switched off', two('', '', { volumeAffinity: 'false' })],
    ['ReadWriteMany', two('{driver_opts: {access: ReadWriteMany}}')],
  ])('a Pod has no affinity to its volume: %s', (_, { pod }) => {
    expect(pod('a')).not.toHaveProperty('colocate')
    expect(pod('a')).not.toHaveProperty('labels')
  })

  test('several replicas share one node, with a warning', () => {
    const { pod, lines } = planOf('services: {a: {image: a, scale: 3, volumes: ["d:/d"]}}\nvolumes: {d: }')
    expect(pod('a').colocate).toEqual([label])
    expect(lines).toEqual(['warning volumes/shared-by-replicas: 3'])
  })

  test('conflicting node selectors are an error', () => {
    expect(two('', ', platform: linux/arm64').codes).toEqual([])
    const { codes } = planOf(`
services:
  a: {image: a, volumes: ["d:/d"], platform: linux/amd64}
  b: {image: b, volumes: ["d:/d"], x-node-selector: {kubernetes.io/arch: arm64}}
volumes: {d: }
`)
    expect(codes).toEqual(['scheduling/contradiction'])
  })

  test('Pods that are connected by several volumes match all terms of each other', () => {
    const { pod, codes } = planOf(`
services:
  app: {image: a, volumes: ["static:/s", "media:/m"]}
  worker: {image: w, volumes: ["media:/m"]}
  web: {image: n, volumes: ["static:/s"]}
  other: {image: o, volumes: ["alone:/a"]}
  another: {image: o, volumes: ["alone:/a"]}
volumes: {static: , media: , alone: }
`)
    const labels = ['dev.platform/volume-media', 'dev.platform/volume-static']
    for (const name of ['app', 'worker', 'web'])
      expect(pod(name)).toMatchObject({
        colocate: labels,
        labels: Object.fromEntries(labels.map(one => [one, 'true'])),
      })
    expect(pod('other').colocate).toEqual(['dev.platform/volume-alone'])
    expect(codes).toEqual([])
  })

  test('a third volume connects Pods that two others do not', () => {
    const { pod } = planOf(`
services:
  a: {image: a, volumes: ["x:/x"]}
  b: {image: b, volumes: ["x:/x", "z:/z"]}
  c: {image: c, volumes: ["y:/y", "z:/z"]}
  d: {image: d, volumes: ["y:/y"]}
volumes: {x: , y: , z: }
`)
    for (const name of ['a', 'b', 'c', 'd'])
      expect(pod(name).colocate).toEqual(['x', 'y', 'z'].map(volume => `dev.platform/volume-${volume}`))
  })

  test('conflicting node selectors of Pods that only a third Pod connects are an error', () => {
    const { codes } = planOf(`
services:
  a: {image: a, volumes: ["x:/x"], platform: linux/amd64}
  b: {image: b, volumes: ["x:/x", "y:/y"]}
  c: {image: c, volumes: ["y:/y"], deploy: {placement: {constraints: [node.platform.arch == aarch64]}}}
volumes: {x: , y: }
`)
    expect(codes).toEqual(['scheduling/contradiction'])
  })

  test.each([
    [
      'deploy: {replicas: 2, placement: {max_replicas_per_node: 1}}',
      ['volumes/shared-by-replicas', 'volumes/replicas-apart'],
    ],
    ['deploy: {placement: {max_replicas_per_node: 1}}', []],
    [
      'scale: 2, ports: [{target: 80, published: "80", mode: host}]',
      ['ports/host-mode', 'volumes/shared-by-replicas', 'volumes/replicas-apart'],
    ],
    [
      'scale: 2, expose: ["80"], network_mode: host',
      ['network/host-mode', 'volumes/shared-by-replicas', 'volumes/replicas-apart'],
    ],
    [
      'scale: 2, deploy: {placement: {max_replicas_per_node: 2}}',
      ['scheduling/replicas-per-node', 'volumes/shared-by-replicas'],
    ],
  ])('replicas that share a node have to fit on it: %s', (keys, expected) => {
    const { codes } = planOf(`services: {a: {image: a, volumes: ["d:/d"], ${keys}}}\nvolumes: {d: }`)
    expect([...codes].sort()).toEqual([...expected].sort())
  })

  test('a global service with a volume of one node is an error', () => {
    const text = (definition: string) =>
      planOf(`services: {a: {image: a, deploy: {mode: global}, volumes: ["d:/d"]}}\nvolumes: {d: ${definition}}`).codes
    expect(text('')).toEqual(['volumes/global-single-node'])
    expect(text('{driver_opts: {access: ReadWriteMany}}')).toEqual([])
  })

  test('ReadWriteOncePod with several Pods is an error', () => {
    expect(two('{driver_opts: {access: ReadWriteOncePod}}').codes).toEqual(['volumes/single-pod'])
  })
})

describe('labels of a mount', () => {
  const mount = (source: string, top = '') =>
    planOf(`
services:
  db: {image: db, volumes: [{type: volume, ${source}target: /d, volume: {labels: {a: "1", b: "2"}}}]}
volumes: {data: {${top}}}
`)
  test('labels of a mount become annotations of the claim, unless the volume overrides them', () => {
    expect(mount('source: data, ', 'labels: {a: top}').plan.claims[0]!.annotations).toEqual({ a: 'top', b: '2' })
  })
  test('labels of a mount become annotations of a claim template', () => {
    expect(mount('').workload('db')).toMatchObject({ claimTemplates: [{ annotations: { a: '1', b: '2' } }] })
  })
})

describe('an image as a volume', () => {
  const mount = (source: string) =>
    planOf(`
services:
  web: {image: web, volumes: [{type: image, source: "${source}", target: /site, image: {subpath: html}}]}
  assets: {build: ., image: "registry.example.com/assets:4"}
`)
  test('an image as a volume is mounted, with a warning about the version of Kubernetes', () => {
    const { pod, codes } = mount('nginx:1.27')
    expect(pod('web').volumes).toEqual([{ kind: 'image', name: 'image-site', reference: 'nginx:1.27' }])
    expect(codes).toEqual(['volumes/image'])
  })
  test('an image as a volume may be the image of a service', () => {
    expect(mount('assets').pod('web').volumes).toEqual([
      { kind: 'image', name: 'image-site', reference: 'registry.example.com/assets:4', pullPolicy: 'IfNotPresent' },
    ])
  })
})

describe('memory volumes', () => {
  const one = (fields: string) => planOf(`services: {x: {image: x, ${fields}}}`)
  test.each([
    ['shm_size: 64m', undefined],
    ['shm_size: 65m', '65Mi'],
  ])('the default size of shared memory is not written: %s', (field, size) => {
    const [volume] = one(field).pod('x').volumes
    expect(volume?.kind === 'memory' ? volume.sizeLimit : undefined).toBe(size)
  })
  test('memory volumes that exceed the memory limit are reported', () => {
    expect(one('mem_limit: 128m, shm_size: 100m, tmpfs: ["/t:size=50m"]').codes).toEqual(['tmpfs/over-memory-limit'])
    expect(one('mem_limit: 128m, shm_size: 100m, tmpfs: [/t]').codes).toEqual([])
  })
})

test('a file system that requires a cluster driver is reported once', () => {
  const { codes, plan } = volume('{driver_opts: {type: cifs, o: "username=x", device: //server/share, class: smb}}')
  expect(codes).toEqual(['volumes/type'])
  expect(plan.claims[0]!.spec).toMatchObject({ storageClass: 'smb' })
})

describe('one mount for each path', () => {
  const mounted = (fields: string, more = '') =>
    planOf(`services:\n  x: {image: i, ${fields}}${more}`)
      .container('x')
      .mounts.map(({ path, volume }) => `${path} ${volume}`)
      .sort()

  test.each([
    ['a mount of type tmpfs', 'shm_size: 1gb, volumes: [{type: tmpfs, target: /dev/shm}]'],
    ['tmpfs', 'shm_size: 1gb, tmpfs: [/dev/shm]'],
    ['an anonymous volume', 'shm_size: 1gb, volumes: [/dev/shm]'],
  ])('a mount at /dev/shm replaces that of shm_size: %s', (_, fields) => {
    expect(mounted(fields).map(mount => mount.split(' ')[0])).toEqual(['/dev/shm'])
  })

  test('a borrowed mount at /dev/shm replaces that of shm_size, and tmpfs replaces a borrowed mount', () => {
    const lender = '\n  lender: {image: i, volumes: ["d:/tmp/x", "s:/dev/shm"]}\nvolumes: {d: , s: }'
    const found = mounted('volumes_from: [lender], tmpfs: [/tmp/x], shm_size: 1gb', lender)
    expect(found).toEqual([expect.stringMatching(/^\/dev\/shm /), '/tmp/x tmp-x'])
  })
})

describe('propagation', () => {
  const propagations = (text: string, name = 'x') =>
    planOf(text)
      .container(name)
      .mounts.map(({ propagation }) => propagation)

  test('only a privileged container passes its mounts on to the node', () => {
    const one = (fields: string) => planOf(`services: {x: {image: i, volumes: ["/sys/a:/y:rshared"]${fields}}}`)
    expect(one(', privileged: true').container('x').mounts[0]!.propagation).toBe('Bidirectional')
    expect(one(', privileged: true').codes).not.toContain('volumes/shared-propagation')
    expect(one('').container('x').mounts[0]!.propagation).toBe('HostToContainer')
    expect(one('').codes).toContain('volumes/shared-propagation')
  })

  test('an unprivileged service does not pass on the mounts that it borrows', () => {
    const text = `services:
  x: {image: i, volumes_from: [lender]}
  lender: {image: i, privileged: true, volumes: ["/sys/a:/y:rshared"]}`
    expect(propagations(text)).toEqual(['HostToContainer'])
    expect(propagations(text, 'lender')).toEqual(['Bidirectional'])
  })

  test('an unprivileged hook of a privileged service does not pass on its mounts', () => {
    const { pod } = planOf(`services:
  x:
    image: i
    privileged: true
    volumes: ["/sys/a:/y:rshared"]
    pre_start: [{command: [a], privileged: false}, {command: [b]}]`)
    expect(pod('x').init.map(({ mounts }) => mounts[0]!.propagation)).toEqual(['HostToContainer', 'Bidirectional'])
  })
})
