import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Returns the SHA-256 of a file, in hexadecimal. */
export const checksum = path => createHash('sha256').update(readFileSync(path)).digest('hex')

/** Returns the checksums of files in the format of `sha256sum`. */
export const checksums = (folder, names) => names.map(name => `${checksum(join(folder, name))}  ${name}\n`).join('')
