import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from '../../support/cases.ts'
import { write } from '../../support/cli/folder.ts'
import { git } from '../../support/git/git.ts'
import { losesRace } from '../../support/git/hooks.ts'
import { leftIn, type Publishing, publishing } from '../../support/git/publishing.ts'
import { commitDirectly, installHooks } from '../../support/git/repository.ts'
import { longTest, TAKES_ALL } from '../../support/takes-all.ts'

/** Runs the program; returns its output and exit status. */
async function published({ source, env }: Publishing, ...words: readonly string[]) {
  const program = join(root, 'examples/program/publish.mjs')
  const child = spawn(process.execPath, [program, source, 'staging', ...words], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', part => (text += part))
  const [status] = await once(child, 'close')
  return { lines: text.trimEnd().split('\n'), status }
}

describe('the example program that publishes', () => {
  test('the program prints its own progress', async () => {
    const project = await publishing()
    const first = await published(project)
    const [compiled, fetched, pushed, kind, subject, ...rest] = first.lines
    expect(compiled).toBe('✓ 5 objects')
    expect(fetched).toBe('↓ main (empty)')
    expect(pushed).toMatch(/^↑ main [0-9a-f]{40}$/)
    expect([kind, subject, ...rest]).toEqual(['pushed', `  ${(await project.log())[0]}`])
    expect(first.status).toBe(0)
    expect(leftIn(project.temporary)).toEqual([])

    if (!TAKES_ALL) return
    const again = await published(project)
    expect(again.lines.at(-1)).toBe('unchanged')
    expect(await project.log()).toHaveLength(1)
  })

  longTest('the program learns that another push came first', async () => {
    const project = await publishing()
    await commitDirectly(project.server.repository, { 'README.md': 'ours\n' })
    installHooks(project.server.repository, losesRace(1))
    const { lines, status } = await published(project)
    expect(lines.filter(line => /^[↓↻↑]/.test(line)).map(line => line[0])).toEqual(['↓', '↻', '↓', '↑'])
    expect(lines).toContain('↻ race')
    expect(status).toBe(0)
  })

  test('the program gets diagnostics as values', async () => {
    const project = await publishing()
    write(project.source, { 'compose.yaml': 'services: {web: {image: "Nginx:1"}}\n' })
    const { lines, status } = await published(project)
    expect(lines[0]).toMatch(/^! image\/\S+: /)
    expect(lines.at(-1)).toBe('refused')
    expect(status).toBe(1)
    expect(await git(project.server.repository, 'rev-list', '--all', '--count')).toBe('0')
  })
})
