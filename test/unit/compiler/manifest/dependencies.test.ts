import { expect, test } from 'vitest'
import { readManifest } from '../../../../compiler/manifest/read.ts'
import { createHost } from '../../../../project/node-host.ts'
import { makeFolder } from '../../../support/cli/folder.ts'

test.each([
  ['https://example.com/b/api', 'b-api'],
  ['https://example.com/b/api/', 'b-api'],
  ['https://example.com/b/api.git', 'b-api'],
  ['https://example.com/b/api.git/', 'b-api'],
  ['git@example.com:b/api.git', 'b-api'],
  ['../api', 'other-api'],
])('the hint about a second dependency called `api` suggests a name for %s', (address, name) => {
  const folder = makeFolder({ 'devctl.yml': `dependencies: ["https://example.com/a/api", "${address}"]\n` })
  const { diagnostics } = readManifest(
    { path: `${folder}/devctl.yml`, workingDirectory: folder },
    createHost({ env: {} }),
  )
  expect(diagnostics.map(({ hint }) => hint)).toEqual([
    `write a mapping, in which each has a name: \`${name}: ${address}\``,
  ])
})
