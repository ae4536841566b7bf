import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A new folder with these files, removed after the test. */
export function makeFolder(files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'devctl-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  write(folder, files)
  return folder
}

/** Writes files below a folder. */
export function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
}

/** The files below a folder, by path, sorted. */
export function read(folder: string): Readonly<Record<string, string>> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(folder.length + 1))
  return Object.fromEntries(paths.sort().map(path => [path, readFileSync(join(folder, path), 'utf8')]))
}
