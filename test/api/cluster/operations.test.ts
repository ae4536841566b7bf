import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { root } from '../../support/cases.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { playPods } from '../../support/cluster/play-pods.ts'
import { withProject } from '../../support/cluster/project.ts'

const cluster = findCluster()

/** Runs a program and returns its output and exit status. */
async function printed(...words: readonly string[]): Promise<{ readonly text: string; readonly status: number }> {
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', part => (text += part))
  const [status] = await once(child, 'close')
  return { text, status }
}

describe.skipIf(cluster === undefined)('a program that deploys by `devctl/operations`', () => {
  playPods()
  afterAll(() => cluster?.close())
  const program = join(root, 'examples/program/deploy.mjs')

  test('a program draws the progress of a deploy itself', () =>
    withProject(cluster!, async project => {
      cpSync(join(root, 'examples/queue-worker'), project.directory, { recursive: true })
      const { text, status } = await printed(program, project.directory, project.name)
      expect(text).toMatch(/^✓ /m)
      expect(text).toMatch(/^deployed$/m)
      expect(text).toMatch(/^ {2}\S+: ready$/m)
      expect(text, 'nothing is printed but by the program').not.toMatch(/ s {2}|= help/)
      expect(status).toBe(0)
    }))

  test('a program gets the errors of a deploy as values', () =>
    withProject(cluster!, async project => {
      project.compose('services: {web: {image: "Nginx:1"}}\n')
      const { text, status } = await printed(program, project.directory, project.name)
      expect(text).toMatch(/^! image\/\S+: /m)
      expect(text).toMatch(/^refused$/m)
      expect(status).toBe(1)
    }))
})
