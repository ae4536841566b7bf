import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { expect } from 'vitest'
import { root } from './cases.ts'

/** Compares a text with a file of this repository, by its absolute path. With `-u` it writes the file. */
export async function expectFile(text: string, path: string): Promise<void> {
  const problem = existsSync(path) ? 'differs from the output' : 'does not exist'
  await expect(text, `${relative(root, path)} ${problem}; \`-u\` writes it`).toMatchFileSnapshot(path)
}

/** True if the run has `-u`: tests then remove the files that nothing writes any more. */
export function isUpdating(): boolean {
  // Vitest has no public way to ask this. The field is checked, so that a change of it is noticed.
  const { snapshotState } = expect.getState() as unknown as { snapshotState: { _updateSnapshot?: string } }
  expect(snapshotState._updateSnapshot, 'how snapshots are updated').toMatch(/^(all|new|none)$/)
  return snapshotState._updateSnapshot === 'all'
}
