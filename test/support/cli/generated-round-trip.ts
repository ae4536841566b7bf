import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Generated } from '../differential/generate.ts'
import { run } from '../run.ts'
import { write } from './folder.ts'

/**
 * Result for a project: refused, or rendered; then `difference` is what changes when the output of `config` is rendered
 * or printed again, undefined if nothing does.
 */
export interface RoundTrip {
  readonly isRendered: boolean
  readonly difference?: string
}

/**
 * Renders a project, and what `config` prints of it, from another folder. Its own folder has a name that Kubernetes and
 * Compose change differently.
 */
export async function tryRoundTrip({ files, load, profiles, env }: Generated): Promise<RoundTrip> {
  const work = mkdtempSync(join(tmpdir(), 'devctl-round-trip-'))
  try {
    const folder = join(work, 'My Project.v2')
    write(folder, files)
    const options = { cwd: folder, env }
    const loading = [...load.flatMap(file => ['-f', file]), ...profiles.flatMap(one => ['--profile', one])]
    const direct = await run(['render', ...loading, ...PLANNING], options)
    if (direct.status !== 0) return { isRendered: false }
    const config = await run(['config', ...loading], options)
    const printed = join(work, 'printed')
    write(printed, { 'compose.yaml': config.stdout })
    // Paths are absolute, but .env is that of the project; the services that a profile enabled say so still.
    const same = ['-f', join(printed, 'compose.yaml'), '--project-directory', folder, '--profile', '*']
    const again = await run(['render', ...same, ...PLANNING], { cwd: printed, env })
    const reprinted = await run(['config', ...same], { cwd: printed, env })
    const difference =
      errorsOf(again.stderr) ||
      firstDifference(withoutSources(direct.stdout), withoutSources(again.stdout)) ||
      firstDifference(config.stdout, reprinted.stdout)
    return { isRendered: true, ...(difference && { difference }) }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

const PLANNING = [
  ...['--namespace', 'shop', '--domain', 'dev.example.com'],
  ...['--include-secrets', '--registry', 'registry.example.com'],
]

const errorsOf = (stderr: string) => [...stderr.matchAll(/^error\[.*$/gm)].map(([line]) => line).join('\n')

const withoutSources = (text: string) => text.replace(/^# .*\n/gm, '')

function firstDifference(before: string, after: string): string {
  if (before === after) return ''
  const [left, right] = [before.split('\n'), after.split('\n')]
  const at = left.findIndex((line, index) => line !== right[index])
  const around = (lines: readonly string[]) => lines.slice(Math.max(0, at - 3), at + 3).join('\n')
  return `line ${at + 1}:\n${around(left)}\n--- is then\n${around(right)}`
}
