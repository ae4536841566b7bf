import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { program } from '../program.ts'

/** Result of compiling a project in its own process. */
export interface Watched {
  /** Undefined where it was ended: it took too long. */
  readonly status: number | undefined
  readonly stderr: string
}

const MEGABYTES = 500
/** Time on the clock: the machine may have other work. */
const MILLISECONDS = 30_000

/**
 * Compiles files in a process with little memory, which is ended when it takes too long. `prepare` makes what is no
 * file.
 */
export async function compileWatched(
  files: Readonly<Record<string, string | Uint8Array>>,
  prepare: (folder: string) => void = () => {},
): Promise<Watched> {
  const folder = mkdtempSync(join(tmpdir(), 'devctl-watched-'))
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    prepare(folder)
    return await run(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function run(cwd: string): Promise<Watched> {
  const words = [`--max-old-space-size=${MEGABYTES}`, program(), 'render', '--namespace', 'shop']
  const env = { PATH: process.env.PATH }
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, words, { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] })
    const deadline = setTimeout(() => child.kill('SIGKILL'), MILLISECONDS)
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', text => {
      stderr += text
    })
    child.on('error', reject)
    child.on('close', status => {
      clearTimeout(deadline)
      resolve({ status: status ?? undefined, stderr })
    })
  })
}
