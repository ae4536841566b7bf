import { execFile } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { stagePackage } from '../../scripts/release/package.mjs'
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

/**
 * Puts the files of the package and its command where `installPackage` does. Takes a third of the time, as nothing is
 * compressed.
 */
export function placePackage(folder: string): Pick<InstalledPackage, 'devctl' | 'files'> {
  program()
  const files = join(folder, 'global/lib/node_modules/devctl')
  stagePackage(files)
  const devctl = join(folder, 'global/bin/devctl')
  mkdirSync(dirname(devctl))
  symlinkSync(relative(dirname(devctl), join(files, 'bin/devctl.cjs')), devctl)
  return { devctl, files }
}
