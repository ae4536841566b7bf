import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import type { Cluster, KubeObject, LogOptions } from '../../../adapters/kubernetes/cluster.ts'
import { readLines } from '../../../adapters/kubernetes/lines.ts'
import { explainFailure, logNotes } from '../../../environment/status/explain.ts'
import { workload } from '../../support/objects/deploying.ts'

const POD = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'ns' } }
const STAMP = '2026-01-01T00:00:00.000000001Z'

/** Returns a cluster with a log, which is read like that of a real one. */
function clusterWith(log: readonly string[]) {
  const asked: LogOptions[] = []
  let read = 0
  async function* pieces() {
    for (const piece of log) {
      read += piece.length
      yield Buffer.from(piece)
    }
  }
  const logs = (_: unknown, options: LogOptions) => {
    asked.push(options)
    return readLines(Readable.from(pieces(), { highWaterMark: 1 }), options.longestLine ?? 1 << 20)
  }
  return { cluster: { logs } as unknown as Cluster, asked, read: () => read } // logNotes uses nothing else
}

test('logNotes reads and shows only the beginning of a log that is one line of 10 MiB', async () => {
  const piece = 'x'.repeat(64 * 1024)
  for (const stamp of ['', `${STAMP} `]) {
    const { cluster, asked, read } = clusterWith([stamp, ...Array.from({ length: 160 }, () => piece)])
    const notes = await logNotes(cluster, 'ns', POD, 'web', false)
    expect(notes.join('').length).toBeLessThan(100 * 1024)
    expect(read()).toBeLessThan(2 * 1024 * 1024)
    expect(asked).toEqual([expect.objectContaining({ tailLines: 20, longestLine: 4096 })])
  }
})

test('logNotes shows the beginning of an overlong line, and the lines after it', async () => {
  const { cluster } = clusterWith([`${STAMP} ${'x'.repeat(300_000)}\n${STAMP} error\n${STAMP} exit`])
  const notes = await logNotes(cluster, 'ns', POD, 'web', false)
  expect(notes).toEqual(['last lines of pod/web:', `| ${'x'.repeat(4096)}…`, '| error', '| exit'])
})

test('explainFailure reads the logs of ten containers of a workload with many failed ones', async () => {
  const { cluster, asked } = clusterWith([`${STAMP} error\n`])
  const object = workload('Deployment', 'web', {}).object
  const problems = Array.from({ length: 50 }, (_, index) => ({
    code: 'unhealthy' as const,
    where: 'pod/web',
    detail: 'it fails',
    pod: POD as KubeObject,
    container: `c${index}`,
  }))
  const tracked = { status: { state: 'failed' as const, text: 'failed' }, pods: [], problems, warnings: [] }
  const failed = { workload: { service: 'web', source: '#services.web', object }, tracked }
  await explainFailure(cluster, failed, undefined)
  expect(asked.map(({ container }) => container)).toEqual(problems.slice(0, 10).map(({ container }) => container))
})
