import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

/** Start of the name of the folder. It is short because the path of a socket has at most 107 bytes. */
const PREFIX = 'dt-'

/**
 * Runs once before the tests of each project: makes a folder for all temporary files of this run, which the workers and
 * the programs that they start inherit. Returns the function that removes the folder after the tests.
 */
export default function makeTemporaryFolder(): (() => void) | undefined {
  // A project before this one has made the folder.
  if (basename(tmpdir()).startsWith(PREFIX)) return
  const before = process.env['TMPDIR']
  const folder = mkdtempSync(join(realpathSync(tmpdir()), PREFIX))
  // Agents of other users have their files in it.
  chmodSync(folder, 0o755)
  process.env['TMPDIR'] = folder
  return () => {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
    // A program that ends at this moment may still write files.
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  }
}
