import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { expectNothingRuns } from '../pods/buildkit/left.ts'
import { findBuildkit, findEngineAddress } from '../support/buildkit/buildkit.ts'
import { type SlowProject, slowProject } from '../support/buildkit/slow-project.ts'
import { generator } from '../support/cluster/random.ts'
import { signal } from '../support/git/processes.ts'

const buildkit = findBuildkit() ?? ''
const engine = findEngineAddress() ?? ''
const builders = [buildkit, engine].filter(address => address !== '')

const RUNS = Number(process.env.KILLED_RUNS ?? 8)
const METADATA = 'images.json'
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGKILL'] as const

describe.skipIf(builders.length === 0)('a build that is killed', () => {
  test(`a killed build leaves nothing on the builder and the disk, ${RUNS} times`, { timeout: 900_000 }, async () => {
    const seed = Number(process.env.KILLED_SEED ?? Date.now() % 1_000_000)
    const random = generator(seed)
    const projects: { project: SlowProject; address: string; milliseconds: number }[] = []
    for (const address of builders) {
      const project = slowProject({ address, seconds: 0.5, size: 2 << 20, writesCache: true })
      projects.push({ project, address, milliseconds: await build(project, 'the first build') })
    }
    let killed = 0
    for (let run = 0; run < RUNS; run++) {
      const one = projects[Math.floor(random() * projects.length)]!
      const { project, address } = one
      project.change()
      const before = written(project)
      const name = SIGNALS[Math.floor(random() * SIGNALS.length)]!
      const after = Math.round(50 + random() * one.milliseconds)
      const what = `run ${run} of seed ${seed}: ${name} after ${after} ms, ${address}`
      if (await kill(project, name, after, what)) killed++
      await expectNothingRuns(address, project.mark, what)
      removeMetadata(project, what)
      // SIGKILL leaves no time to delete half-written files.
      const isNew = (path: string) => name !== 'SIGKILL' || !isUnfinished(path) || before.includes(path)
      expect(written(project).filter(isNew), what).toEqual(before)
      // The delay is adapted, since the machine may be busier or idler than at the start.
      one.milliseconds = (one.milliseconds + (await build(project, what))) / 2
    }
    for (const { project } of projects) {
      // The next build that writes the same files deletes the half-written ones.
      project.change()
      await build(project, `after all runs of seed ${seed}`)
      expect(written(project).filter(isUnfinished)).toEqual([])
    }
    expect(killed, 'many builds were killed before their end').toBeGreaterThan(RUNS / 4)
  })
})

/** Returns the paths on the disk, except for complete files in the cache folders. */
const written = (project: SlowProject): readonly string[] =>
  project.onDisk().filter(path => !path.startsWith(join(project.folder, 'cache')) || isUnfinished(path))

const isUnfinished = (path: string): boolean => path.endsWith('.tmp')

/** Builds to the end, and returns the milliseconds that it took. */
async function build(project: SlowProject, what: string): Promise<number> {
  const began = performance.now()
  const { status, stdout, stderr } = await project.start('build').ended
  expect(status, `${what}\n${stderr}`).toBe(0)
  for (const service of ['web', 'api'])
    expect(stdout, what).toMatch(new RegExp(`^${service}: \\S+@sha256:[0-9a-f]{64}$`, 'm'))
  return performance.now() - began
}

/** Removes the metadata file. The file of a build that was killed at its very end is complete. */
function removeMetadata({ folder }: SlowProject, what: string): void {
  const path = join(folder, METADATA)
  if (!existsSync(path)) return
  const digest = { 'containerimage.digest': expect.stringMatching(/^sha256:/) }
  expect(JSON.parse(readFileSync(path, 'utf8')), what).toMatchObject({ web: digest, api: digest })
  rmSync(path)
}

/** Starts a build and sends it a signal; returns true if that ended the build early. */
async function kill(
  project: SlowProject,
  name: (typeof SIGNALS)[number],
  after: number,
  what: string,
): Promise<boolean> {
  const { pid, ended } = project.start('build', '--metadata-file', METADATA)
  const timer = setTimeout(() => signal(pid, name), after)
  const { status, stderr } = await ended
  clearTimeout(timer)
  // The status is also undefined if the signal came before the program had begun.
  expect([0, 130, undefined], `${what}\n${stderr}`).toContain(status)
  if (status === 130) expect(stderr, what).toMatch(/interrupted\n$/)
  return status !== 0
}
