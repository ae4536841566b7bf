import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { deployedName, findDevelopment, namedDevelopments } from '../../../../develop/select/find-development.ts'
import { openProject } from '../../../../project/open-project.ts'
import { makeFolder } from '../../../support/cli/folder.ts'

const COMPOSE = 'services: {api: {image: node, volumes: [".:/app"]}}\n'

const worldOf = async (files: Readonly<Record<string, string>>) => {
  const cwd = makeFolder(files)
  const workspace = { cwd, env: { DEVCTL_HOME: join(cwd, '../home') }, readStdin: async () => new Uint8Array() }
  return { world: { workspace, on: () => {} }, project: await openProject(workspace, {}) }
}

const open = async (files: Readonly<Record<string, string>>, dev: string) => {
  const { world, project } = await worldOf(files)
  return findDevelopment(world, { dev }, project)
}

test.each([
  ['with a deploy section', 'deploy: {compose: other.yaml}\ndev: {api: {sync: [".:/app"]}}', {}, true],
  ['with a Compose file beside it', 'dev: {api: {sync: [".:/app"]}}', { 'compose.yaml': COMPOSE }, true],
  ['with the folders of a Compose file', 'dev: {api: {command: x}}', { 'compose.yaml': COMPOSE }, true],
  ['that creates its workload', 'dev: {api: {autocreate: true, sync: [".:/app"]}}', { 'compose.yaml': COMPOSE }, false],
  ['with nothing to deploy', 'dev: {api: {sync: [".:/app"]}}', {}, false],
])('findDevelopment reports if `up` can deploy a development container %s', async (_, manifest, files, hasDeploy) => {
  const found = await open({ 'devctl.yml': `${manifest}\n`, ...files }, 'api')
  expect(found.hasDeploy).toBe(hasDeploy)
})

const RENAMED = { 'compose.yaml': 'services: {my_api: {image: node, volumes: [".:/app"]}}\n' }

test.each([
  ['a service', RENAMED, 'my_api', 'my_api'],
  ['a declared one without `sync`', { ...RENAMED, 'devctl.yml': 'dev: {my-api: {}}\n' }, 'my-api', 'my_api'],
  [
    'a declared one that names its container',
    { ...RENAMED, 'devctl.yml': 'dev: {other: {container: my_api}}\n' },
    'other',
    'my_api',
  ],
  ['a declared one with `sync`', { 'devctl.yml': 'dev: {api: {sync: [".:/app"]}}\n' }, 'api', 'api'],
])('a deploy for the development container of %s takes the name in the Compose file', async (_, files, dev, name) => {
  expect(deployedName(await open(files, dev))).toBe(name)
})

test.each([
  ['the given names', { devs: ['my_api', 'Web'] }, ['my-api', 'web']],
  ['each name once', { devs: ['my_api', 'my-api'] }, ['my-api']],
  ['all names', { all: true }, ['my-api', 'web']],
])(
  'namedDevelopments returns %s as findDevelopment accepts them and the cluster shows them',
  async (_, input, names) => {
    const services = 'services: {my_api: {image: node, volumes: [".:/app"]}, Web: {image: node, volumes: [".:/app"]}}\n'
    const { world, project } = await worldOf({ 'compose.yaml': services })
    expect(await namedDevelopments(world, input, project)).toEqual(names)
    const found = await Promise.all(names.map(dev => findDevelopment(world, { dev }, project)))
    expect(found.map(({ development }) => development.name)).toEqual(names)
  },
)

test('findDevelopment finds a service that runs the folder of a Compose file behind a symbolic link', async () => {
  const { world } = await worldOf({ 'real/compose.yaml': COMPOSE, 'real/index.js': '' })
  const { cwd } = world.workspace
  symlinkSync('real', join(cwd, 'link'))
  const input = { file: [join(cwd, 'link/compose.yaml')] }
  const found = await findDevelopment(world, input, await openProject(world.workspace, input))
  expect([found.development.name, found.composeFolders?.map(({ local }) => local)]).toEqual([
    'api',
    [join(cwd, 'real')],
  ])
})
