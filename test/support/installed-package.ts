import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from './cases.ts'
import { program } from './program.ts'

const call = promisify(execFile)

/** Package that npm has installed into a folder. */
export interface InstalledPackage {
  readonly tarball: string
  /** Output of `npm install`. */
  readonly output: string
  /** Path of the command `devctl`. */
  readonly devctl: string
  /** Folder of the package. */
  readonly files: string
}

/** Packs what was built, as a release does, and returns the path of the tarball. */
export async function packPackage(folder: string, env: NodeJS.ProcessEnv): Promise<string> {
  const { stdout } = await call(process.execPath, [join(root, 'scripts/release/package.mjs'), folder], { env })
  return stdout.trim()
}

/** Packs what was built, and installs it as `npm install --global` does, below a folder. */
export async function installPackage(folder: string, env: NodeJS.ProcessEnv): Promise<InstalledPackage> {
  program()
  const tarball = await packPackage(folder, env)
  const prefix = join(folder, 'global')
  const words = ['install', '--global', '--prefix', prefix, '--offline', '--no-audit', tarball]
  const { stdout, stderr } = await call('npm', words, { cwd: folder, env })
  const files = join(prefix, 'lib/node_modules/devctl')
  return { tarball, output: stdout + stderr, devctl: join(prefix, 'bin/devctl'), files }
}
