// The Node.js inside the executables, which npm serves as a package for each processor.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './run.mjs'

/** Linked with nothing but the C and C++ libraries; Node.js 26 needs libatomic, too, which small systems lack. */
const VERSION = '24.22.3'

/** The processors with an executable, and the checksum of the package with their Node.js. */
export const PROCESSORS = {
  x64: 'sha512-KHsob+Fv9YerATvYujMbiyJqnRCvLtrcr/eTNqRqiOSGp97EOiRP1yP47+knGgQ/xnc3XY8xzkW587dlZzNqRA==',
  arm64: 'sha512-IZx0J52/1NDwAsY2iyWR9nlPIYuYviTWetjj8+ElvYQh2+XRhLfCfkbFEF/2O5vGI2hcUbyPNHV+nz342FbJXw==',
}

/**
 * Unpacks the Node.js of a processor into a folder, unless it is there, and returns its path. npm keeps the packages
 * that it has fetched, so only the first call on a machine needs the registry.
 */
export function fetchNode(processor, folder) {
  const path = join(folder, processor, 'bin/node')
  if (existsSync(path)) return path
  const expected = PROCESSORS[processor]
  if (expected === undefined || process.platform !== 'linux')
    throw new Error(
      `no executable for ${process.platform} ${processor}; for linux: ${Object.keys(PROCESSORS).join(', ')}`,
    )
  const name = `node-linux-${processor}@${VERSION}`
  const [{ filename }] = JSON.parse(
    run('npm', ['pack', name, '--json', '--prefer-offline', '--pack-destination', folder]),
  )
  const archive = join(folder, filename)
  const found = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`
  if (found !== expected) throw new Error(`${name} has the checksum ${found}; expected ${expected}`)
  run('tar', ['-xzf', archive, '-C', folder, `--one-top-level=${processor}`, '--strip-components=1'])
  return path
}
