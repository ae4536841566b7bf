import { expect, test } from 'vitest'
import { readManifest } from '../../../../compiler/manifest/read.ts'
import { createHost } from '../../../../project/node-host.ts'
import { makeFolder } from '../../../support/cli/folder.ts'

const RENAMED = 'manifest/renamed'

/** The images that each image depends on, and the messages except those about new names. */
function buildsOf(build: string) {
  const folder = makeFolder({ 'devctl.yml': `build: ${build}\n` })
  const { manifest, diagnostics } = readManifest(
    { path: `${folder}/devctl.yml`, workingDirectory: folder },
    createHost({ env: {} }),
  )
  const builds = [...(manifest?.build ?? [])]
  return {
    needed: Object.fromEntries(builds.map(([name, { dependsOn }]) => [name, dependsOn.map(({ value }) => value)])),
    said: diagnostics.filter(({ code }) => code !== RENAMED).map(({ message, hint }) => [message, hint]),
  }
}

test.each(['my_base', 'my-base'])('an image can depend on a renamed image by the name `%s`', name => {
  expect(buildsOf(`{my_base: ., api: {context: ., depends_on: [${name}]}}`)).toEqual({
    needed: { 'my-base': [], api: ['my-base'] },
    said: [],
  })
})

test('renamed images that depend on each other in a cycle are reported', () => {
  const { said } = buildsOf('{a_a: {context: ., depends_on: b_b}, b_b: {context: ., depends_on: a_a}}')
  expect(said.map(([message]) => message)).toEqual(['images depend on each other in a cycle: `a-a` → `b-b` → `a-a`'])
})

test('the variables of a renamed image are checked', () => {
  const { said } = buildsOf('{base: ., my_api: {context: ., args: {BASE: "${DEVCTL_BUILD_BASE_IMAGE}"}}}')
  expect(said).toEqual([['`DEVCTL_BUILD_BASE_IMAGE` is not set when `my-api` is built', 'add `base` to `depends_on`']])
})

const withArgument = (variable: string) =>
  `{api: ., api-v2: ., web: {context: ., depends_on: [api], args: {B: "\${${variable}}"}}}`

test.each(['REGISTRY', 'REPOSITORY', 'IMAGE', 'TAG', 'SHA'])('a build can use the %s of an image before it', part => {
  expect(buildsOf(withArgument(`DEVCTL_BUILD_API_${part}`)).said).toEqual([])
})

test.each([
  ['DEVCTL_BUILD_API_V2_IMAGE', 'add `api-v2` to `depends_on`'],
  ['DEVCTL_BUILD_API_PORT', undefined],
])('a build cannot use `%s`, which only begins like a variable of an image before it', (variable, hint) => {
  expect(buildsOf(withArgument(variable)).said).toEqual([[`\`${variable}\` is not set when \`web\` is built`, hint]])
})
