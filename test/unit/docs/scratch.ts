import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** Runs something in a new empty folder, which is removed afterwards. */
export async function inScratch(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'devctl-docs-'))
  try {
    await work(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Writes a file of a project, with the folders above it. */
export function writeProject(folder: string, name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  writeFileSync(join(folder, name), text)
}
