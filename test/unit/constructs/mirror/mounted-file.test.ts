import { expect, test } from 'vitest'
import { mirror } from '../../../../constructs/mirror/mirror.ts'
import { facts, settings } from '../../../support/mirror/settings.ts'

const FILE = { path: '/etc/nginx/nginx.conf', directory: 'src/1/nginx.conf', isFile: true } as const

interface Container {
  readonly name: string
  readonly command?: readonly string[]
  readonly volumeMounts: readonly { readonly mountPath: string; readonly subPath?: string; readonly name: string }[]
}

function podOf(hasSidecars: boolean): {
  readonly init: readonly Container[]
  readonly own: Container
  readonly fill: Container
} {
  const original = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      template: {
        spec: {
          containers: [
            {
              name: 'web',
              image: 'nginx',
              volumeMounts: [{ name: 'config', mountPath: FILE.path, subPath: 'nginx.conf' }],
            },
          ],
        },
      },
    },
  }
  const folders = [{ path: '/app', directory: 'src/0' }, FILE]
  const { spec } = mirror(original, settings({ folders }), facts({ hasSidecars })).workload as unknown as {
    spec: { template: { spec: { initContainers: readonly Container[]; containers: readonly Container[] } } }
  } // a Deployment's
  const { initContainers: init, containers } = spec.template.spec
  const find = (wanted: string) => [...init, ...containers].find(({ name }) => name === wanted)!
  return { init, own: find('web'), fill: find('devctl-fill') }
}

test('a deploy of other contents of a synchronized folder does not change the mirror', () => {
  const withCopy = (name: string) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      template: {
        spec: {
          containers: [
            {
              name: 'web',
              image: 'nginx',
              volumeMounts: [
                { name: 'site', mountPath: '/site' },
                { name: 'other', mountPath: '/other' },
              ],
            },
          ],
          volumes: [
            { name: 'site', configMap: { name } },
            { name: 'other', configMap: { name: 'other-1' } },
            { name: 'nowhere', configMap: { name: 'of-somebody' } },
          ],
        },
      },
    },
  })
  const folders = [{ path: '/site', directory: 'src/0' }]
  const of = (name: string) => mirror(withCopy(name), settings({ folders }), facts({})).workload
  expect(of('site-5d41402a')).toEqual(of('site-7c4a8d09'))
  expect(JSON.stringify(of('site-5d41402a'))).toMatch(/other-1.*of-somebody/)
  // Another container beside it still reads the copy.
  const shared = withCopy('site-5d41402a')
  const { containers } = shared.spec.template.spec
  containers.push({ name: 'exporter', image: 'exporter', volumeMounts: [{ name: 'site', mountPath: '/in' }] })
  expect(JSON.stringify(mirror(shared, settings({ folders }), facts({})).workload)).toContain('site-5d41402a')
})

test('a file is mounted in place of that of the application, and not filled from the image', () => {
  const { init, own, fill } = podOf(true)
  const mounts = own.volumeMounts.filter(({ mountPath }) => mountPath === FILE.path)
  expect(mounts).toEqual([{ name: 'devctl-sync', mountPath: FILE.path, subPath: FILE.directory }])
  expect(fill.command?.at(-1)).toContain('from=/app')
  expect(fill.command?.at(-1)).not.toContain('nginx.conf')
  expect(init.map(({ name }) => name)).toEqual(['devctl-tools'])
})

test.each([true, false])(
  'an init container makes the file, since the kubelet would mount a folder (sidecars: %s)',
  sidecars => {
    const [tools] = podOf(sidecars).init
    expect(tools?.command?.at(-1)).toContain('for place in .devctl src src/0 src/1; do')
    expect(tools?.command?.at(-1)).toContain('for place in src/1/nginx.conf; do if [ ! -e "$place" ]; then')
  },
)
