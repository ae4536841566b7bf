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

/** Packs what was built, and installs it as `npm install --global` does, below a folder. */
export async function installPackage(folder: string, env: NodeJS.ProcessEnv): Promise<InstalledPackage> {
  program()
  const packing = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder]
  const pack = await call('npm', packing, { cwd: root, env })
  const tarball = join(folder, JSON.parse(pack.stdout)[0].filename)
  const prefix = join(folder, 'global')
  const words = ['install', '--global', '--prefix', prefix, '--offline', '--no-audit', tarball]
  const { stdout, stderr } = await call('npm', words, { cwd: folder, env })
  const files = join(prefix, 'lib/node_modules/devctl')
  return { tarball, output: stdout + stderr, devctl: join(prefix, 'bin/devctl'), files }
}
