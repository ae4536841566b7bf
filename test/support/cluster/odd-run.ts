import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { write } from '../cli/folder.ts'
import { documentsOf } from '../documents.ts'
import { run } from '../run.ts'
import type { Cluster } from './cluster.ts'
import { oddProject } from './odd-project.ts'

/** Result for a project: refused by devctl with a position, or rendered, with the errors of the API server. */
export interface OddResult {
  readonly isRendered: boolean
  readonly refusals: readonly string[]
}

/**
 * Renders the project of a seed, and sends what comes out to the API server: a dry run of a server-side apply with
 * strict fields.
 */
export async function tryOddProject(cluster: Cluster, namespace: string, seed: number): Promise<OddResult> {
  const { files, env } = oddProject(seed)
  const folder = mkdtempSync(join(tmpdir(), 'devctl-odd-'))
  try {
    write(folder, files)
    const usual = ['--name', 'app', '--namespace', namespace, '--domain', 'dev.example.com', '--include-secrets']
    const { status, stdout, stderr } = await run(['render', ...usual], { cwd: folder, env })
    if (status !== 0) return { isRendered: false, refusals: placeless(seed, stderr) }
    const answers = await Promise.all(
      documentsOf(stdout).map(async ({ object }) => {
        const answer = await cluster.apply(object, namespace, { dryRun: true })
        if (answer.status <= 201) return []
        return [`seed ${seed}: ${object.kind}/${object.metadata.name}: ${answer.status} ${answer.body.slice(0, 800)}`]
      }),
    )
    return { isRendered: true, refusals: answers.flat() }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Errors without a place in the file. */
const placeless = (seed: number, stderr: string): readonly string[] =>
  [...stderr.matchAll(/^error\[.*\n(?! +-->)/gm)].map(([line]) => `seed ${seed}: no place: ${line}`)
