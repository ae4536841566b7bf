import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { reasonOf } from '../../compiler/diagnostics/system-error.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'

/**
 * Creates a folder that only this user can enter, and that the caller removes. Throws a UserError if TMPDIR is not a
 * folder that the user may write to.
 */
export function makeTemporaryFolder(prefix: string, base: string = tmpdir()): string {
  try {
    // Node.js creates it with mode 0700.
    return mkdtempSync(join(base, prefix))
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException // node:fs throws nothing else
    throw new UserError(
      `no temporary folder can be created in \`${base}\`: ${FOLDER_REASONS[code] ?? reasonOf(error)}`,
      {
        hint: 'set TMPDIR to a folder that you may write to',
      },
    )
  }
}

const FOLDER_REASONS: Readonly<Record<string, string>> = { ENOENT: 'it does not exist', ENOTDIR: 'it is not a folder' }
