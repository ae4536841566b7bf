import { expect, test } from 'vitest'
import { readManifest } from '../../../../compiler/manifest/read.ts'
import { createHost } from '../../../../project/node-host.ts'
import { makeFolder } from '../../../support/cli/folder.ts'

/** The files and services of `deploy.compose`, and the messages about it. */
function composeOf(compose: string) {
  const folder = makeFolder({ 'devctl.yml': `deploy:\n  compose: ${compose}\n` })
  const { manifest, diagnostics } = readManifest(
    { path: `${folder}/devctl.yml`, workingDirectory: folder },
    createHost({ env: {} }),
  )
  const found = manifest?.deploy?.compose
  return {
    files: found?.files.map(({ value }) => value),
    services: found?.services.map(({ value }) => value),
    said: diagnostics.map(({ code, message }) => `${code}: ${message}`),
  }
}

test.each([
  ['{manifest: compose.yaml}', ['compose.yaml'], []],
  ['{manifest: compose.yaml, services: [web]}', ['compose.yaml'], ['web']],
  ['{manifest: {file: compose.yaml, services: [web]}}', ['compose.yaml'], ['web']],
  ['{manifest: [{file: compose.yaml, services: web}]}', ['compose.yaml'], ['web']],
  ['{file: compose.yaml, services: [web]}', ['compose.yaml'], ['web']],
])('`compose: %s` has its files and services', (compose, files, services) => {
  expect(composeOf(compose)).toEqual({ files, services, said: [] })
})

test.each([
  ['{manifest: [compose.yaml], services: [web]}', 'manifest/unknown-key: unknown key `services` in `deploy.compose`'],
  [
    '{manifest: {file: compose.yaml}, services: [web]}',
    'manifest/unknown-key: unknown key `services` in `deploy.compose`',
  ],
  ['{manifest: [a.yaml], file: b.yaml}', 'manifest/unknown-key: unknown key `manifest` in `deploy.compose`'],
  ['{manifest: a.yaml, file: b.yaml}', 'manifest/unknown-key: unknown key `manifest` in `deploy.compose`'],
  ['{services: [web]}', 'manifest/missing-key: `deploy.compose` needs `file`'],
  ['{}', 'manifest/missing-key: `deploy.compose` needs `file`'],
])('`compose: %s` is refused, because a part of it would be ignored', (compose, message) => {
  expect(composeOf(compose).said).toEqual([message])
})
