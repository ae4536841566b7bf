import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import {
  asPerson,
  type DevelopmentPlace,
  type Laptop,
  openDevelopment,
  openLaptop,
} from '../pods/develop/development.ts'
import { filesHere, READER } from '../pods/develop/saves.ts'
import { withoutServerFields } from '../pods/develop/taking.ts'
import { TWO_REPLICAS } from '../pods/develop/two-replicas.ts'
import { write } from '../support/cli/folder.ts'
import { eventually, findCluster } from '../support/cluster/cluster.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

describe.skipIf(cluster === undefined)('two laptops with one service', () => {
  const people = mkdtempSync(join(tmpdir(), 'devctl-people-'))
  let ann: DevelopmentPlace
  let ben: Laptop

  beforeAll(async () => {
    ann = await openDevelopment(cluster!, 'two-laptops', asPerson('ann', people))
    ben = openLaptop(ann.namespace, 'two-laptops', asPerson('ben', people))
    for (const [name, { folder }] of [['ann', ann] as const, ['ben', ben] as const])
      write(folder, {
        ...TWO_REPLICAS,
        [`files/${name}.txt`]: `of ${name}\n`,
        'files/both.txt': `of ${name}\n`,
      })
    const deploy = ann.devctl('deploy')
    expect(await deploy.status, deploy.stderr).toBe(0)
  })
  afterAll(async () => {
    await ben?.clear()
    await ann?.close()
    rmSync(people, { recursive: true, force: true })
  })

  const marks = (laptop: Laptop) =>
    Object.fromEntries(Object.entries(filesHere(join(laptop.folder, 'files'))).map(([name, { mark }]) => [name, mark]))

  test('the second laptop learns the holder, can take over the service, and releases it', async () => {
    const path = `/apis/apps/v1/namespaces/${ann.namespace}/deployments/api`
    const original = async () => withoutServerFields(await cluster!.get<KubeObject>(path))
    const before = await original()
    const first = ann.devctl('up')
    await first.until(/^connected$/, 180)

    const refused = ben.devctl('up')
    expect(await refused.status).toBe(1)
    expect(refused.stderr).toContain('`deployment/api` already has a development container')
    expect(refused.stderr).toMatch(/ann@laptop-of-ann( \(\d+\) works on it since| has taken it at) /)
    expect(refused.stderr).toContain('--take-over')
    expect(first.process.exitCode).toBeNull()

    const second = ben.devctl('up', '--take-over')
    await second.until(/^connected$/, 180)
    expect(await first.status, first.stderr).toBe(1)
    // Changes of the second user in the mirror are neither reported nor reverted; the end of the Pod of the first may
    // be.
    const isOfConnection = (line: string) =>
      /^ +[\d.]+ s {2}(?:its Pod has ended|api: (?:reconnecting|waits|starts)|Files: not connected)/.test(line)
    const told = first.stderr.slice(first.stderr.indexOf('SSH: ')).split('\n').slice(1)
    expect(told.filter(line => !isOfConnection(line))).toEqual([
      'error: somebody else has taken over `deployment/api`',
      '  = help: `devctl up api --take-over` takes it back',
      '',
    ])

    // Files that the first user left in the volume are kept. The version of the second user replaces one that both
    // have, and the other is saved.
    const both = { 'ann.txt': 'of ann', 'ben.txt': 'of ben', 'both.txt': 'of ben' }
    expect(marks(ben)).toEqual(both)
    expect(marks(ann)).toEqual({ 'ann.txt': 'of ann', 'both.txt': 'of ann' })
    const kept = /both\.txt was changed on both sides: .* (\S+both\.txt)/.exec(second.stderr)?.[1]
    expect(readFileSync(kept!, 'utf8')).toBe('of ann\n')

    writeFileSync(join(ben.folder, 'files/new.txt'), 'saved by ben\n')
    writeFileSync(join(ann.folder, 'files/late.txt'), 'saved by ann\n')
    await eventually('the container has what the second saves', async () => {
      const read = ben.devctl('exec', '--', 'node', '-e', READER, '/app')
      expect(await read.status, read.stderr).toBe(0)
      const names = Object.keys(JSON.parse(read.stdout))
      expect(names).not.toContain('late.txt')
      return names.includes('new.txt') || undefined
    })

    const down = ben.devctl('down')
    expect(await down.status, down.stderr).toBe(0)
    expect(await second.status, second.stderr).toBe(0)
    expect(await original()).toEqual(before)
  })
})
