// The Node.js inside the executables, which npm serves as a package for each processor.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './run.mjs'

/** Linked with nothing but the C and C++ libraries; Node.js 26 needs libatomic, too, which small systems lack. */
const VERSION = '24.22.3'

/**
 * The processors with an executable, by the names that container images use: the name that Node.js has for them, and
 * the checksum of the package with their Node.js.
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

/** The processor of this machine; undefined if there is no executable for it. */
export const OWN =
  process.platform === 'linux'
    ? Object.keys(PROCESSORS).find(processor => PROCESSORS[processor].name === process.arch)
    : undefined

/** Unpacks the Node.js of a processor into a folder, unless it is there, and returns its path. */
export function fetchNode(processor, folder) {
  const path = join(folder, processor, 'bin/node')
  if (existsSync(path)) return path
  const archive = fetchArchive(processor, folder)
  run('tar', ['-xzf', archive, '-C', folder, `--one-top-level=${processor}`, '--strip-components=1'])
  return path
}

/**
 * Puts the package with the Node.js of a processor into a folder, and returns its path. npm keeps the packages that it
 * has fetched, so only the first call on a machine needs the registry.
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
