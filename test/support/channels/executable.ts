import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { root } from '../cases.ts'
import { lacks } from '../lacks.ts'
import { program } from '../program.ts'

/** Processors with an executable. */
export type Processor = 'amd64' | 'arm64'

const MAKE = join(root, 'scripts/executable.mjs')
/** Tests do not use the network: `.ci/run` has fetched what npm keeps. */
const env = { ...process.env, npm_config_offline: 'true' }

/** Returns true if tests without the executable of a processor are left out: npm must have its Node.js. */
export function lacksExecutable(processor: Processor): boolean {
  if (process.platform !== 'linux') return true
  const { status } = spawnSync(process.execPath, [MAKE, '--fetch', processor], { env })
  return lacks(`the Node.js of the executable for ${processor} (\`npm run executable -- --fetch\`)`, status !== 0)
}

/** Makes the executable of a processor in a folder, and returns its path. */
export function makeExecutable(processor: Processor, folder: string): string {
  program()
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAKE, processor, '--output', folder], {
    env,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`could not make the executable: ${stderr}`)
  return stdout.trim()
}
