import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from '../../support/cases.ts'
import { ANSWER_MS } from '../../support/deadlines.ts'
import type { Generated } from '../../support/differential/generate.ts'
import { run } from '../../support/run.ts'

/** Result of loading a project: the normalised model, or the loader's error. */
export type Loading = { readonly model: unknown } | { readonly error: string }

/** The Compose Specification's reference loader as a program: $REFERENCE_LOADER; undefined where there is none. */
export function findReference(): string | undefined {
  const program = process.env.REFERENCE_LOADER
  if (program !== undefined && existsSync(program)) return program
  console.warn('REFERENCE_LOADER names no program: the comparison with the reference loader is left out')
  return undefined
}

/** Writes a project into a folder that is made anew. */
export function writeProject(folder: string, { files }: Generated): void {
  rmSync(folder, { recursive: true, force: true })
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
}

export function loadByReference(
  program: string,
  folder: string,
  { load, profiles, env }: Omit<Generated, 'files'>,
): Promise<Loading> {
  const args = [
    ...load.flatMap(file => ['-f', file]),
    ...profiles.flatMap(profile => ['-profile', profile]),
    ...Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`]),
    '-pretty=false',
  ]
  return new Promise(resolve => {
    const options = { cwd: folder, env: { HOME: env.HOME }, timeout: ANSWER_MS, maxBuffer: 64 << 20 }
    execFile(program, args, options, (error, stdout, stderr) => {
      // A crash of the reference is none of ours, and says nothing about the project.
      if (error) resolve({ error: /^panic:|goroutine/m.test(stderr) ? `crash: ${stderr}` : stderr })
      else resolve({ model: JSON.parse(stdout) })
    })
  })
}

export async function loadByUs(folder: string, { load, profiles, env }: Omit<Generated, 'files'>): Promise<Loading> {
  const args = [...load.flatMap(file => ['-f', file]), ...profiles.flatMap(profile => ['--profile', profile])]
  const { status, stdout, stderr } = await run(['config', '--format', 'json', '--all-resources', ...args], {
    cwd: folder,
    env,
  })
  if (status === 0) return { model: undoubled(JSON.parse(stdout)) }
  if (!/^error\[[^\]]+\]/m.test(stderr)) throw new Error(`status ${status} without an error: ${stderr}`)
  return { error: stderr }
}

/** `config` prints `$` as `$$`, so that its output can be read again; the reference's program prints it plain. */
function undoubled(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('$$', '$')
  if (Array.isArray(value)) return value.map(undoubled)
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, undoubled(item)]))
  return value
}

/** Projects that people wrote, by folder name: test/programs/differential/projects. */
export const projects = join(root, 'test/programs/differential/projects')
