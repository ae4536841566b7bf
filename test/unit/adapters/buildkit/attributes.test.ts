import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fileOf, frontendAttributes } from '../../../../adapters/buildkit/attributes.ts'
import { imageInput } from '../../../support/buildkit/input.ts'
import { makeFolder } from '../../../support/cli/folder.ts'

const attributesOf = (part: Parameters<typeof imageInput>[0]) => frontendAttributes(imageInput(part))

test('an image with only a folder leaves all settings to the builder', () => {
  expect(attributesOf({})).toEqual({ filename: 'Dockerfile' })
})

test('every setting of an image is an attribute of the frontend', () => {
  const attributes = attributesOf({
    dockerfile: { path: '/src/docker/web.Dockerfile' },
    contexts: new Map([
      ['base', { remote: 'docker-image://alpine:3' }],
      ['assets', { folder: '/assets' }],
      ['context', { folder: '/other' }],
    ]),
    target: 'prod',
    args: new Map([['A', '1,2']]),
    labels: new Map([['org.example/x', 'y']]),
    platforms: ['linux/amd64', 'linux/arm64'],
    noCache: ['build', 'test'],
    pull: true,
    network: 'none',
    extraHosts: [
      { host: 'db', address: '10.0.0.1' },
      { host: 'six', address: '::1' },
    ],
    shmSize: 1 << 20,
    ulimits: [
      { name: 'nofile', soft: 10, hard: 20 },
      { name: 'nproc', soft: -1, hard: -1 },
    ],
    provenance: 'mode=max',
    sbom: 'true',
  })
  expect(attributes).toEqual({
    filename: 'web.Dockerfile',
    'context:base': 'docker-image://alpine:3',
    'context:assets': 'local:assets',
    'context:context': 'local:_context',
    target: 'prod',
    'build-arg:A': '1,2',
    'label:org.example/x': 'y',
    platform: 'linux/amd64,linux/arm64',
    'no-cache': 'build,test',
    'image-resolve-mode': 'pull',
    'force-network-mode': 'none',
    'add-hosts': 'db=10.0.0.1,six=::1',
    'shm-size': '1048576',
    ulimit: 'nofile=10:20,nproc=-1:-1',
    'attest:provenance': 'mode=max',
    'attest:sbom': '',
  })
})

test.each([
  ['a path of a remote context', { path: 'docker/Dockerfile' }, { filename: 'docker/Dockerfile' }],
  ['a text', { text: 'FROM x' }, { filename: 'Dockerfile', dockerfilekey: 'dockerfile' }],
])('the Dockerfile of a remote context is %s', (_, dockerfile, expected) => {
  const remote = 'https://github.com/example/app.git#main'
  expect(attributesOf({ context: { remote }, dockerfile })).toEqual({ context: remote, ...expected })
})

test('attributes with default values are omitted', () => {
  expect(attributesOf({ network: 'default', noCache: [], provenance: false, sbom: false })).toEqual({
    filename: 'Dockerfile',
  })
  expect(attributesOf({ noCache: true })).toHaveProperty('no-cache', '')
})

test('the builder gets the name of the Dockerfile itself if the path is a link', () => {
  const folder = makeFolder({ 'shared/Real.Dockerfile': 'FROM x\n' })
  symlinkSync('shared/Real.Dockerfile', join(folder, 'Dockerfile'))
  const input = { context: { folder }, dockerfile: { path: join(folder, 'Dockerfile') } }
  expect(attributesOf(input)).toMatchObject({ filename: 'Real.Dockerfile' })
  expect(fileOf(input.dockerfile)).toBe(join(folder, 'shared/Real.Dockerfile'))
})
