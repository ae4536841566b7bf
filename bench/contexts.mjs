import { randomFillSync } from 'node:crypto'
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'

const FILES_OF_FOLDER = 100

/** Writes files that cannot be compressed into folders of a hundred. */
export function manyFiles(root, count, size) {
  const buffer = Buffer.alloc(size)
  for (let index = 0; index < count; index++) {
    const folder = join(root, `folder-${Math.floor(index / FILES_OF_FOLDER)}`)
    if (index % FILES_OF_FOLDER === 0) mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `file-${index}`), randomFillSync(buffer))
  }
}

/** Writes a file that cannot be compressed. */
export function bigFile(path, size) {
  const buffer = Buffer.alloc(1 << 20)
  const file = openSync(path, 'w')
  for (let written = 0; written < size; written += buffer.length)
    writeSync(file, randomFillSync(buffer), 0, Math.min(buffer.length, size - written))
  closeSync(file)
}

/** Makes a file that has a size and takes no place. */
export function sparseFile(path, size) {
  const file = openSync(path, 'w')
  ftruncateSync(file, size)
  closeSync(file)
}

/** Gives all files the time of now: a builder has none of them any more. */
export function touchAll(root) {
  const now = new Date()
  for (const entry of readdirSync(root, { withFileTypes: true, recursive: true }))
    if (entry.isFile()) utimesSync(join(entry.parentPath, entry.name), now, now)
}
