import { describe, expect, test } from 'vitest'
import { UserError } from '../../../../compiler/diagnostics/user-error.ts'
import { allCandidatesOf, candidatesOf, chooseCandidate } from '../../../../develop/select/candidates.ts'
import { planOf } from '../../../support/plan/compose.ts'

const files = {
  'api/Dockerfile': 'FROM node:22\nCOPY . /app\n',
  'api/index.js': '',
  'web/Dockerfile': 'FROM node:22\n',
  'web/src/main.js': '',
  'sql/init.sql': '',
  'site/index.html': '',
  'nginx.conf': '',
  Dockerfile: 'FROM node:22\n',
}
const services = (...lines: readonly string[]) =>
  planOf(`services:\n${lines.map(line => `  ${line}\n`).join('')}`, {}, files)

const names = (...lines: readonly string[]) => {
  const { project, host } = services(...lines)
  return candidatesOf(project, host).map(({ service }) => service.name)
}

const DB = 'db: {image: postgres, volumes: ["./sql:/docker-entrypoint-initdb.d"]}'
const API = 'api: {build: api, volumes: ["./api:/app"]}'
const WEB = 'web: {build: web, volumes: ["./web/src:/app/src"]}'

describe('the services that can be worked on', () => {
  test.each<[string, readonly string[], readonly string[]]>([
    ['are built and have a folder', [API, DB], ['api']],
    ['are in the order of the file', [WEB, API], ['web', 'api']],
    ['are not those with a file alone', ['api: {build: api, volumes: ["./nginx.conf:/etc/nginx.conf"]}'], []],
    ['are not those with a folder that does not exist', ['api: {build: api, volumes: ["./none:/app"]}'], []],
    [
      'are not those whose folder is data',
      ['api: {build: api, volumes: [{type: bind, source: ./api, target: /d, x-mount: claim}]}'],
      [],
    ],
    ['are not those with other volumes', ['api: {build: api, volumes: ["data:/data", "/cache"]}'], []],
    [
      'have a rule that copies files',
      ['api: {image: node, develop: {watch: [{path: ./api, action: sync, target: /app}]}}', DB],
      ['api'],
    ],
    [
      'are not those with rules that copy nothing',
      ['api: {build: api, develop: {watch: [{path: ./api, action: rebuild}]}}'],
      [],
    ],
    [
      'run the folder of the Compose file, if nothing is built',
      ['api: {image: "node:22", volumes: [".:/app"]}', DB],
      ['api'],
    ],
    ['do not run it if something is built', ['tool: {image: "node:22", volumes: [".:/app"]}', API], ['api']],
    ['do not only read it', ['site: {image: nginx, volumes: [".:/usr/share/nginx/html:ro"]}'], []],
  ])('the candidates %s', (_, lines, expected) => {
    const withVolumes = lines.some(line => line.includes('data:')) ? [...lines] : lines
    expect(names(...withVolumes)).toEqual(expected)
  })
})

test('allCandidatesOf returns built services and those that run the folder of the Compose file', () => {
  const { project, host } = services(API, 'tool: {image: "node:22", volumes: [".:/app"]}', DB)
  expect(allCandidatesOf(project, host).map(({ service }) => service.name)).toEqual(['api', 'tool'])
})

const chosen = async (lines: readonly string[], name?: string, choose?: (names: readonly string[]) => string) => {
  const { project, host } = services(...lines)
  const ask = choose && (async (all: readonly string[]) => choose(all))
  return (await chooseCandidate(project, host, name, ask)).service.name
}

const refused = async (lines: readonly string[], name?: string) => {
  const error = await chosen(lines, name).catch((reason: unknown) => reason)
  if (!(error instanceof UserError)) throw error
  return [error.message, ...error.notes, error.hint, ...error.lines].join('\n')
}

describe('the service that `up` works on', () => {
  test('chooseCandidate returns the only candidate', async () => {
    expect(await chosen([DB, API])).toBe('api')
  })

  test('chooseCandidate asks which of several candidates is meant, or lists them', async () => {
    expect(await chosen([API, WEB], undefined, all => all[1]!)).toBe('web')
    expect(await refused([API, WEB])).toBe(
      'there are 2 development containers: `api`, `web`\nname one of them, such as `api`',
    )
  })

  test('chooseCandidate returns the named service, also if it is not a candidate', async () => {
    expect(await chosen([API, WEB], 'web')).toBe('web')
    expect(await chosen([API, DB], 'db')).toBe('db')
    expect(await refused([API], 'apo')).toBe('service `apo` does not exist\ndid you mean `api`?')
  })

  test('chooseCandidate also takes the name of a service in Kubernetes', async () => {
    const renamed = 'my_api: {build: api, volumes: ["./api:/app"]}'
    expect(await chosen([renamed, WEB], 'my-api')).toBe('my_api')
    expect(await chosen([renamed, 'my-api: {build: api, volumes: ["./api:/app"]}'], 'my-api')).toBe('my-api')
  })

  test('chooseCandidate suggests two lines to add if there is no candidate', async () => {
    expect(await refused(['db: {image: postgres}', 'api: {build: ./api, working_dir: /srv}'])).toBe(
      'no service has a folder of this machine to work on\nadd two lines to `api`:\n    volumes:\n      - ./api:/srv',
    )
    expect(await refused(['db: {image: postgres}'])).toBe(
      'no service has a folder of this machine to work on\nadd two lines to the service that you work on:\n    volumes:\n      - .:/app',
    )
    expect(await refused(['db: {image: postgres}', 'api: {build: ./api}'], 'db')).toBe(
      'service `db` has no folder of this machine to work on\nadd two lines to `api`:\n    volumes:\n      - ./api:/app',
    )
  })

  test('chooseCandidate names the candidates if the named service has no folder or does not exist', async () => {
    const db = 'db: {image: postgres}'
    expect(await refused([db, API], 'db')).toBe(
      'service `db` has no folder of this machine to work on\nchoose `api`, which has a folder of this machine',
    )
    expect(await refused([db, API, WEB], 'db')).toMatch(/\nchoose `api` or `web`, which have folders of this machine$/)
    expect(await refused([db, API, WEB], 'ap')).toBe('service `ap` does not exist\ndid you mean `api`?')
    expect(await refused([db, API, WEB], 'dbs')).toBe(
      'service `dbs` does not exist\nchoose `api` or `web`, which have folders of this machine',
    )
  })
})
