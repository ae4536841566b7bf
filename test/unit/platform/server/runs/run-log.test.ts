import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import type { KubeObject, LogOptions } from '../../../../../adapters/kubernetes/cluster.ts'
import type { RunRecord } from '../../../../../platform/records/run.ts'
import { KeptLines, PodLog, type RunLine, readSaved, saveLog } from '../../../../../platform/server/runs/run-log.ts'
import { MemoryCluster } from '../../../../support/memory-cluster/memory-cluster.ts'

const run = {
  id: 'a',
  uid: 'u',
  namespace: 'shop',
  namespaceUid: 'n',
  environment: 'e',
  user: 'x',
  action: 'deploy',
} as RunRecord

const line = (number: number, text: string): RunLine => ({ number, step: 'run', time: '2026-01-01T00:00:00.5Z', text })

/** Saves the kept lines and returns the lines that are read back; `change` edits the Secrets in between. */
async function saved(kept: KeptLines, change?: (secret: KubeObject) => KubeObject) {
  const cluster = new MemoryCluster({ namespaces: ['devctl-runs'] })
  const log = await saveLog(cluster, run, kept.all())
  const secrets = await cluster.list({ apiVersion: 'v1', kind: 'Secret', namespace: 'devctl-runs' }, {})
  for (const secret of secrets) {
    const changed = change?.(secret)
    if (changed)
      await cluster.apply({ ...changed, metadata: { ...changed.metadata, managedFields: undefined } } as KubeObject, {
        manager: 'test',
        force: true,
      })
  }
  const lines: RunLine[] = []
  for await (const one of readSaved(cluster, run, log, new AbortController().signal)) lines.push(one)
  return { log, lines, secrets }
}

test('saved lines are read back unchanged', async () => {
  const kept = new KeptLines()
  const all = ['one', '', 'wörd \u{1f600}', '  { "a": 1 }  ', 'c 1 r', '\u001b[31mred'].map((text, at) =>
    line(at + 1, text),
  )
  for (const one of all) kept.add(one)
  kept.add({ ...line(7, 'cloned'), step: 'clone' })
  const { log, lines } = await saved(kept)
  expect(log).toEqual({ parts: 1, first: 1, lines: 7 })
  expect(lines).toEqual([...all, { ...line(7, 'cloned'), step: 'clone' }])
})

test('a log without lines is saved and read back', async () => {
  expect(await saved(new KeptLines())).toMatchObject({ log: { first: 1, lines: 0 }, lines: [] })
})

test('KeptLines keeps the newest 100,000 of many short lines', async () => {
  const kept = new KeptLines()
  for (let number = 1; number <= 250_000; number++) kept.add(line(number, ''))
  const { packed, first, lines } = kept.all()
  expect(lines).toBeLessThanOrEqual(100_000)
  expect(lines).toBeGreaterThan(90_000)
  expect(first + lines - 1).toBe(250_000)
  expect(packed.length).toBeLessThan(1_000_000)
  const back = await saved(kept)
  expect([back.lines.length, back.lines[0]?.number, back.lines.at(-1)?.number]).toEqual([lines, first, 250_000])
})

test('KeptLines keeps the newest 8 MiB of long lines, even if they do not compress', async () => {
  const kept = new KeptLines()
  const noise = () => randomBytes(150_000).toString('base64')
  const texts = Array.from({ length: 60 }, noise)
  for (const [at, text] of texts.entries()) kept.add(line(at + 1, text))
  const { log, lines, secrets } = await saved(kept)
  const characters = lines.reduce((sum, { text }) => sum + text.length, 0)
  expect(characters).toBeLessThanOrEqual(8 * 1024 * 1024)
  expect(characters).toBeGreaterThan(7 * 1024 * 1024)
  expect(lines.map(({ text }) => text)).toEqual(texts.slice(log.first - 1))
  expect(secrets.length).toBe(log.parts)
  expect(log.parts).toBeGreaterThan(3)
})

test.each([0, 1000, 70_000])('an overlong line in pieces of %i more characters is one line', async more => {
  const cluster = new MemoryCluster({ namespaces: ['devctl-runs'] })
  const labels = { 'batch.kubernetes.io/job-name': 'r-a' }
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'devctl-runs', labels } }
  await cluster.create({ ...pod, spec: { containers: [] } })
  const state = { terminated: { exitCode: 0 } }
  cluster.act({ apiVersion: 'v1', kind: 'Pod', name: 'p', namespace: 'devctl-runs' }, one => ({
    ...one,
    status: { phase: 'Succeeded', containerStatuses: [{ name: 'run', state }] },
  }))
  const stamp = line(0, '').time
  const text = 'some words '.repeat(60_000)
  Object.assign(cluster, {
    async *logs(_: unknown, { longestLine = 0 }: LogOptions) {
      yield 'the node has lost what was before'
      yield `${stamp} one`
      const whole = `${stamp} ${text}`
      const size = longestLine + more
      for (let at = 0; at < whole.length; at += size) yield whole.slice(at, at + size)
      yield `${stamp} `
    },
  })
  const lines: RunLine[] = []
  for await (const one of new PodLog(cluster, 'a').read(0, AbortSignal.timeout(60_000))) lines.push(one)
  expect(lines).toEqual([
    { ...line(1, 'the node has lost what was before'), time: '' },
    line(2, 'one'),
    line(3, `${text.slice(0, 256 * 1024)}…`),
    line(4, ''),
  ])
})

test('a Secret with invalid content gives no lines', async () => {
  const kept = new KeptLines()
  kept.add(line(1, 'one'))
  const bad = (log: unknown) => (secret: KubeObject) => ({ ...secret, data: { log } })
  for (const log of ['', 'bm90IGd6aXA=', '////'])
    expect((await saved(kept, bad(log))).lines, JSON.stringify(log)).toEqual([])
})
