// The Node.js inside the executables, which npm serves as a package for each processor.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './run.mjs'

/**
 * Version of Node.js in the executables. It needs only the C and C++ libraries; Node.js 26 also needs libatomic, which
 * small systems lack.
 */
const VERSION = '24.22.3'

/**
 * Processors with an executable, by their names in container images. Each has the name that Node.js uses for it, and
 * the checksum of the npm package that contains Node.js for it.
 */
export const PROCESSORS = {
  amd64: {
    name: 'x64',
    integrity: 'sha512-KHsob+Fv9YerATvYujMbiyJqnRCvLtrcr/eTNqRqiOSGp97EOiRP1yP47+knGgQ/xnc3XY8xzkW587dlZzNqRA==',
  },
  arm64: {
    name: 'arm64',
    integrity: 'sha512-IZx0J52/1NDwAsY2iyWR9nlPIYuYviTWetjj8+ElvYQh2+XRhLfCfkbFEF/2O5vGI2hcUbyPNHV+nz342FbJXw==',
  },
}

/** Processor of this machine, as a key of `PROCESSORS`; undefined if there is no executable for it. */
export const OWN =
  process.platform === 'linux'
    ? Object.keys(PROCESSORS).find(processor => PROCESSORS[processor].name === process.arch)
    : undefined

/** Unpacks Node.js for a processor into a folder, unless it is already there. Returns the path of the program. */
export function fetchNode(processor, folder) {
  const path = join(folder, processor, 'bin/node')
  if (existsSync(path)) return path
  const archive = fetchArchive(processor, folder)
  run('tar', ['-xzf', archive, '-C', folder, `--one-top-level=${processor}`, '--strip-components=1'])
  return path
}

/**
 * Fetches the npm package with Node.js for a processor into a folder, and returns its path. npm caches packages, so
 * only the first call on a machine needs the registry. Throws an Error for an unknown processor or a wrong checksum.
 */
export function fetchArchive(processor, folder) {
  if (!Object.hasOwn(PROCESSORS, processor))
    throw new Error(`no executable for ${processor}; there are ${Object.keys(PROCESSORS).join(' and ')}`)
  const { name, integrity } = PROCESSORS[processor]
  const id = `node-linux-${name}@${VERSION}`
  const words = ['pack', id, '--json', '--prefer-offline', '--pack-destination', folder]
  const [{ filename }] = JSON.parse(run('npm', words))
  const archive = join(folder, filename)
  const found = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`
  if (found !== integrity) throw new Error(`${id} has the checksum ${found}; expected ${integrity}`)
  return archive
}
