import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { parseEngineAddress } from '../../../../../adapters/buildkit/engine/endpoint.ts'
import { findEngine } from '../../../../../adapters/buildkit/engine/find-engine.ts'
import { UserError } from '../../../../../compiler/diagnostics/user-error.ts'

const folder = mkdtempSync(join(tmpdir(), 'devctl-test-docker-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const write = (path: string, text: string) => {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}
const id = createHash('sha256').update('remote').digest('hex')
write('config.json', '{"currentContext": "remote", "auths": {}}')
write(`contexts/meta/${id}/meta.json`, '{"Name": "remote", "Endpoints": {"docker": {"Host": "tcp://engine:2376"}}}')
write(`contexts/tls/${id}/docker/ca.pem`, 'CA')
write('certificates/ca.pem', 'CA')
write('certificates/cert.pem', 'CERT')
write('certificates/key.pem', 'KEY')
write('broken/config.json', '<html>')
write('empty/config.json', '')
write('blank/config.json', ' \n')

const DOCKER_CONFIG = folder
const REMOTE = { at: { host: 'engine', port: 2376 }, tls: { ca: Buffer.from('CA') } }

test('DOCKER_HOST wins over the context', async () => {
  expect(await findEngine({ DOCKER_HOST: 'unix:///x.sock', DOCKER_CONTEXT: 'remote', DOCKER_CONFIG })).toEqual({
    text: 'unix:///x.sock',
    at: { path: '/x.sock' },
  })
})

test('DOCKER_TLS_VERIFY enables TLS with the certificates of DOCKER_CERT_PATH', async () => {
  const DOCKER_CERT_PATH = join(folder, 'certificates')
  const env = { DOCKER_HOST: 'tcp://engine', DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH }
  expect(await findEngine(env)).toMatchObject({
    at: { host: 'engine', port: 2376 },
    tls: { ca: Buffer.from('CA'), cert: Buffer.from('CERT'), key: Buffer.from('KEY') },
  })
})

test('findEngine uses the context of DOCKER_CONTEXT or `config.json` with its certificates', async () => {
  expect(await findEngine({ DOCKER_CONFIG })).toMatchObject(REMOTE)
  expect(await findEngine({ DOCKER_CONFIG, DOCKER_CONTEXT: 'remote' })).toMatchObject(REMOTE)
  expect(await findEngine({ DOCKER_CONFIG, DOCKER_CONTEXT: 'default' })).toHaveProperty('at.path')
})

test.each(['nothing', 'empty', 'blank'])('findEngine returns the local engine by default: %s', async name => {
  expect(await findEngine({ DOCKER_CONFIG: join(folder, name) })).toHaveProperty('at.path')
})

test('findEngine refuses a missing context and an invalid configuration', async () => {
  await expect(findEngine({ DOCKER_CONFIG, DOCKER_CONTEXT: 'gone' })).rejects.toThrow(UserError)
  await expect(findEngine({ DOCKER_CONFIG: join(folder, 'broken') })).rejects.toThrow(UserError)
})

test.each([
  'ssh://',
  'ssh://-oProxyCommand=x',
  'ssh://-l@host',
  'fd://',
  'tcp://',
  'tcp://host:99999',
  'unix://relative',
])('parseEngineAddress refuses %s', text => {
  expect(() => parseEngineAddress(text)).toThrow(UserError)
})

test.each([
  ['tcp://host', { host: 'host', port: 2375 }],
  ['host:1', { host: 'host', port: 1 }],
  ['tcp://[::1]:2375', { host: '::1', port: 2375 }],
  ['ssh://me@build:22', { ssh: 'build', user: 'me', port: '22' }],
  ['ssh://alias', { ssh: 'alias' }],
  ['npipe:////./pipe/docker_engine', { path: '//./pipe/docker_engine' }],
])('parseEngineAddress accepts %s', (text, at) => {
  expect(parseEngineAddress(text)).toEqual({ text, at })
})
