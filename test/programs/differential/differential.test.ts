import { cpSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { type Generated, generate } from '../../support/differential/generate.ts'
import { lacks } from '../../support/lacks.ts'
import { partOf } from '../../support/part-of-cases.ts'
import { run } from '../../support/run.ts'
import { few } from '../../support/takes-all.ts'
import { differences } from './compare.ts'
import { deviationOf } from './deviations.ts'
import { describeProject, minimise } from './minimise.ts'
import { findReference, loadByReference, loadByUs, projects, writeProject } from './reference.ts'

// `DIFF_RUNS=5000 DIFF_SEED=1 npx vitest run test/programs/differential` makes more projects, or others.
const runs = Number(process.env.DIFF_RUNS ?? 10)
const firstSeed = Number(process.env.DIFF_SEED ?? 1)
/** `DIFF_IGNORE=PATTERN` leaves differences out, so that one known mistake does not hide the others. */
const ignored = process.env.DIFF_IGNORE ? new RegExp(process.env.DIFF_IGNORE) : undefined
const BATCH = 50

const reference = findReference()
const lacksReference = lacks('REFERENCE_LOADER', reference === undefined)
const work = mkdtempSync(join(tmpdir(), 'devctl-differential-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))

describe('projects as people write them', () => {
  const { cases: names } = partOf(readdirSync(projects).sort(), 3)
  const size = (name: string) => statSync(join(projects, name, 'compose.yaml')).size
  /** The largest projects use most of the keys. */
  const compared = new Set(
    few(
      names.toSorted((one, other) => size(other) - size(one)),
      7,
    ),
  )
  for (const name of names) {
    const folder = join(projects, name)
    const options = { load: [], profiles: ['*'], env: { HOME: '/home/nobody' } }

    test(`${name} renders without errors`, async () => {
      const args = [
        '--name',
        'app',
        '--namespace',
        'shop',
        '--domain',
        'dev.example.com',
        '--registry',
        'registry.example.com',
      ]
      const { status, stderr } = await run(['render', ...args], { cwd: folder, env: options.env })
      expect(status, stderr).toBe(0)
    })

    if (compared.has(name))
      test.skipIf(lacksReference)(`${name} loads as the reference loads it`, async () => {
        // The name of the project would be that of the repository in a checkout.
        const copy = join(work, name)
        cpSync(folder, copy, { recursive: true })
        expect(await unexplained(copy, options)).toEqual([])
      })
  }
})

describe.skipIf(lacksReference)('generated projects', () => {
  for (let first = firstSeed; first < firstSeed + runs; first += BATCH) {
    const last = Math.min(first + BATCH, firstSeed + runs) - 1
    test(`projects of the seeds ${first} to ${last} load as the reference loads them`, async () => {
      for (let seed = first; seed <= last; seed++) {
        const project = generate(seed)
        const found = await check(project)
        if (found.length === 0) continue
        const smaller = await minimise(project, async one => sameKind(await check(one), found))
        const left = await check(smaller)
        expect.fail(`seed ${seed}:\n${left.join('\n')}\n\n${describeProject(smaller)}`)
      }
    })
  }
})

function check(project: Generated): Promise<readonly string[]> {
  const folder = join(work, 'project')
  writeProject(folder, project)
  return unexplained(folder, project)
}

/** Returns the differences that no deviation explains; a crash of devctl is one. */
async function unexplained(folder: string, options: Omit<Generated, 'files'>): Promise<readonly string[]> {
  const theirs = loadByReference(reference!, folder, options)
  const ours = await loadByUs(folder, options).catch(error => error as Error)
  const expected = await theirs
  if (ours instanceof Error) return [`we crash: ${ours.stack}`]
  return differences(expected, ours).filter(
    difference => deviationOf(difference, expected, ours) === undefined && !ignored?.test(difference),
  )
}

/**
 * Returns true if a smaller project shows the same mistake, as far as the first line of `before` tells: the same path,
 * or the same side refuses it for the same reason.
 */
function sameKind(found: readonly string[], before: readonly string[]): boolean {
  return found.some(line => kindOf(line) === kindOf(before[0]!))
}

function kindOf(line: string): string {
  const refused =
    /^only we refuse it: error\[([^\]]+)\]|^only the reference refuses it: [\s\S]*?error: (.*)|^we crash: (.*)/.exec(
      line,
    )
  if (refused)
    return (refused[1] ?? refused[2] ?? refused[3] ?? '').replace(/"[^"]*"|\d+|services\.[^. ]+|\S*\/\S*/g, '…')
  return line.split(': the reference has')[0]!.replace(/\[\d+\]/g, '')
}
