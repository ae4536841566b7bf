import { expect, test } from 'vitest'
import { mirror } from '../../constructs/mirror/mirror.ts'
import { facts, settings } from './settings.ts'

const FILE = { path: '/etc/nginx/nginx.conf', directory: 'src/1/nginx.conf', isFile: true } as const

interface Container {
  readonly name: string
  readonly command?: readonly string[]
  readonly volumeMounts: readonly { readonly mountPath: string; readonly subPath?: string; readonly name: string }[]
}

function podOf(hasSidecars: boolean): { readonly init: readonly Container[]; readonly own: Container } {
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
  return { init: spec.template.spec.initContainers, own: spec.template.spec.containers[0]! }
}

test('a file is mounted in the place of what the application has there, and not filled from the image', () => {
  const { init, own } = podOf(true)
  const mounts = own.volumeMounts.filter(({ mountPath }) => mountPath === FILE.path)
  expect(mounts).toEqual([{ name: 'devctl-sync', mountPath: FILE.path, subPath: FILE.directory }])
  expect(init.filter(({ name }) => name.startsWith('fill-'))).toHaveLength(1)
})

test('without sidecars, an init container makes the file: the kubelet would mount a folder', () => {
  const [made] = podOf(false).init.filter(({ name }) => name === 'devctl-files')
  expect(made?.command?.at(-1)).toContain('[ -e /devctl/volume/src/1/nginx.conf ] ||')
  expect(podOf(true).init.some(({ name }) => name === 'devctl-files')).toBe(false)
})
