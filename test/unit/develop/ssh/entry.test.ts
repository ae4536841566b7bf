import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  answerInclude,
  includeLine,
  includeState,
  sshConfigFile,
  writeSshEntry,
} from '../../../../develop/ssh/entry.ts'

function folders(name = 'devctl-entry-') {
  const userHome = mkdtempSync(join(tmpdir(), name))
  onTestFinished(() => rmSync(userHome, { recursive: true }))
  return { userHome, home: join(userHome, '.devctl') }
}
const entry = (dev: string, port: number) => ({
  dev,
  namespace: 'ns',
  cluster: { id: 'c1', name: 'kind' },
  port,
  hostKey: 'ssh-ed25519 AAAA',
  userKey: 'k\n',
})
const hasSsh = existsSync('/usr/bin/ssh')

describe('the entry of a session for SSH clients', () => {
  test('an entry is private, replaces an older one, and is removed with its keys', async () => {
    const { home } = folders()
    const first = await writeSshEntry(home, entry('api', 1001))
    const other = await writeSshEntry(home, entry('web', 1002))
    const second = await writeSshEntry(home, entry('api', 1003))
    const text = () => readFileSync(sshConfigFile(home), 'utf8')
    expect([first.host, text().match(/^Host .*/gm)]).toEqual([
      'api.devctl',
      ['Host web.devctl web.ns.devctl', 'Host api.devctl api.ns.devctl'],
    ])
    expect(text().match(/Port \d+/g)).toEqual(['Port 1002', 'Port 1003'])
    for (const file of ['config', 'api.ns.c1.key', 'api.ns.c1.known_hosts'])
      expect(statSync(join(home, 'ssh', file)).mode & 0o777).toBe(0o600)
    await second.remove()
    expect(existsSync(join(home, 'ssh/api.ns.c1.key'))).toBe(false)
    await other.remove()
    expect(text()).toBe('')
  })

  test('two namespaces have one entry each; the short name belongs to the newest remaining session', async () => {
    const { home } = folders()
    const hosts = () => readFileSync(sshConfigFile(home), 'utf8').match(/^Host .*/gm)
    const keyOf = (namespace: string) => readFileSync(join(home, `ssh/api.${namespace}.c1.key`), 'utf8')
    const first = await writeSshEntry(home, { ...entry('api', 1001), namespace: 'one', userKey: '1\n' })
    const second = await writeSshEntry(home, { ...entry('api', 1002), namespace: 'two', userKey: '2\n' })
    expect(hosts()).toEqual(['Host api.one.devctl', 'Host api.devctl api.two.devctl'])
    expect([keyOf('one'), keyOf('two')]).toEqual(['1\n', '2\n'])
    await second.remove()
    expect(hosts()).toEqual(['Host api.devctl api.one.devctl'])
    expect(keyOf('one')).toBe('1\n')
    await first.remove()
    expect(readFileSync(sshConfigFile(home), 'utf8')).toBe('')
  })

  test('two clusters with the same namespace have one entry each, which names the context', async () => {
    const { home } = folders()
    const hosts = () => readFileSync(sshConfigFile(home), 'utf8').match(/^Host .*/gm)
    const ports = () => readFileSync(sshConfigFile(home), 'utf8').match(/Port \d+/g)
    const at = (port: number, id: string, name: string) => ({ ...entry('api', port), cluster: { id, name } })
    const first = await writeSshEntry(home, at(1001, 'c1', 'team/dev eu'))
    const second = await writeSshEntry(home, at(1002, 'c2', 'default'))
    expect(hosts()).toEqual(['Host api.ns.team-dev-eu.devctl', 'Host api.devctl api.ns.devctl api.ns.default.devctl'])
    const third = await writeSshEntry(home, at(1003, 'c3', 'default'))
    expect(hosts()).toEqual([
      'Host api.ns.team-dev-eu.devctl',
      'Host api.ns.default-c2.devctl',
      'Host api.devctl api.ns.devctl api.ns.default-c3.devctl',
    ])
    expect(ports()).toEqual(['Port 1001', 'Port 1002', 'Port 1003'])
    await third.remove()
    await first.remove()
    expect(hosts()).toEqual(['Host api.devctl api.ns.devctl'])
    await second.remove()
    expect(readFileSync(sshConfigFile(home), 'utf8')).toBe('')
  })

  test('the next session removes the entry of a killed session', async () => {
    const { home } = folders()
    await writeSshEntry(home, entry('old', 1001))
    const file = sshConfigFile(home)
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(String(process.pid), '4194999'))
    await writeSshEntry(home, entry('api', 1002))
    expect(readFileSync(file, 'utf8')).not.toMatch(/old/)
  })

  test.skipIf(!hasSsh)('OpenSSH reads the entry, whatever the name of the folder', async () => {
    const { home } = folders('devctl 100% entry-')
    await writeSshEntry(home, entry('api', 1001))
    const read = execFileSync('ssh', ['-G', '-F', sshConfigFile(home), 'api.devctl'], { encoding: 'utf8' })
    expect(read).toMatch(/^hostname 127\.0\.0\.1$/m)
    expect(read).toMatch(/^port 1001$/m)
    expect(read).toMatch(/^stricthostkeychecking (true|yes)$/m)
    expect(read).toMatch(/^identitiesonly yes$/m)
  })
})

describe('the line in ~/.ssh/config', () => {
  test('the line is written once at the start of the file, which otherwise stays as it was', async () => {
    const { home, userHome } = folders()
    const file = join(userHome, '.ssh/config')
    mkdirSync(join(userHome, '.ssh'))
    const own = 'Host  a\n\tPort 22 # mine\r\nMatch all\n'
    writeFileSync(file, own)
    chmodSync(file, 0o640)
    expect(includeState(home, userHome)).toBe('unasked')
    await answerInclude(home, userHome, true)
    await answerInclude(home, userHome, true)
    expect(readFileSync(file, 'utf8')).toBe(`Include ~/.devctl/ssh/config\n\n${own}`)
    expect(statSync(file).mode & 0o777).toBe(0o640)
    expect(includeState(home, userHome)).toBe('included')
  })

  test('the state is `declined` after the user refused the line', async () => {
    const { home, userHome } = folders()
    await answerInclude(home, userHome, false)
    expect(includeState(home, userHome)).toBe('declined')
    expect(existsSync(join(userHome, '.ssh'))).toBe(false)
  })

  test('answerInclude creates a missing file, and includeLine quotes a path with spaces', async () => {
    const { home, userHome } = folders('devctl entry-')
    await answerInclude(home, userHome, true)
    expect(readFileSync(join(userHome, '.ssh/config'), 'utf8')).toBe('Include ~/.devctl/ssh/config\n')
    expect(includeLine('/some where/else', userHome)).toBe('Include "/some where/else/ssh/config"')
  })
})
