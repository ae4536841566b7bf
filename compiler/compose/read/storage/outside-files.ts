import { diagnostic } from '../../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../../diagnostics/reporter.ts'
import type { CompilerHost } from '../../../host.ts'
import type { Span } from '../../../text/source.ts'

const HINT = 'move the file into the project, or add `--allow-outside` if you trust these files'

const WRITE_HINT = 'name a folder of the project, or add `--allow-outside` if you trust these files'

interface OutsideFile {
  readonly path: string
  /**
   * True if a build would write to the path, because the build exports its cache to the path. False if the path would
   * only be read.
   */
  readonly isWritten: boolean
}

const refused = diagnostic({
  code: 'files/outside',
  severity: 'error',
  explain: `The files of a project may only name files of that project: files in its git repository or, without a repository, in the folder of its first file. Symbolic links are resolved first. Otherwise anybody who can change the files, such as the author of a pull request, could make devctl read any file of the machine and put it into an image, a manifest or a message.

If \`CI\` is set, every other file is refused; otherwise it is read, with a warning. Files below \`/proc\`, \`/sys\` and \`/dev\` are always refused.

Files that you name with \`-f\`, \`--env-file\` or \`COMPOSE_FILE\` are always read. To allow others, use:

- \`--allow-outside\`: the files of the project may name any file;
- \`DEVCTL_ALLOW_OUTSIDE\`: a list of folders, separated by \`:\`, that all projects may read from;
- \`-f\` with a manifest outside the checkout: the files that it names, and the files of their project, are read.`,
  text: ({ path, isSystem, isWritten }: OutsideFile & { readonly isSystem: boolean }) => ({
    message: isSystem
      ? `\`${path}\` is a system file, which a project may not ${isWritten ? 'write' : 'read'}`
      : `\`${path}\` is outside the project and is not ${isWritten ? 'written' : 'read'}`,
    hint: isWritten ? WRITE_HINT : HINT,
  }),
})
const read = diagnostic({
  code: 'files/outside-read',
  severity: 'warning',
  explain:
    'The files of the project name a file outside it (symbolic links are resolved), and devctl read it; for the folder of a cache that a build exports, devctl writes it. If `CI` is set, this is an error, see `files/outside`. Check that the file is meant; `--allow-outside` silences the warning.',
  text: ({ path, isWritten }: OutsideFile) => ({
    message: `\`${path}\` is outside the project; it is ${isWritten ? 'written' : 'read'} anyway`,
    hint: isWritten ? WRITE_HINT : HINT,
  }),
})

/**
 * Returns true if a file or folder named at `span` may be read. Reports a path outside the project: as an error if
 * reading is not allowed, otherwise as a warning. Counts the size of a file against the limit `bytes`; throws
 * OverBudget if the limit is exceeded.
 */
export function mayRead(host: CompilerHost, path: string, span: Span | undefined, reporter: Reporter): boolean {
  const stat = host.stat(path)
  reporter.budget.spend('bytes', stat?.kind === 'file' ? stat.size : 0, span)
  const outside = host.outside?.(path)
  if (!outside || outside.is === 'allowed') return true
  if (outside.is === 'read') warn(outside.path, span, reporter, stat?.kind === 'folder')
  else reporter.report(refused, span, { path: outside.path, isSystem: outside.is === 'system', isWritten: false })
  return outside.is === 'read'
}

/**
 * Returns true if a folder named at `span` may be written to. Reports a path outside the project: as an error if
 * writing is not allowed, otherwise as a warning.
 */
export function mayWrite(host: CompilerHost, path: string, span: Span | undefined, reporter: Reporter): boolean {
  const outside = host.outside?.(path)
  if (!outside || outside.is === 'allowed') return true
  const found = { path: outside.path, isWritten: true }
  if (outside.is === 'read') reporter.report(read, span, found)
  else reporter.report(refused, span, { ...found, isSystem: outside.is === 'system' })
  return outside.is === 'read'
}

function warn(path: string, span: Span | undefined, reporter: Reporter, isFolder: boolean): void {
  // Files in a reported folder are not reported again for the same position.
  if (reporter.knowsOutsideFolder(path, span)) return
  reporter.report(read, span, { path, isWritten: false })
  if (isFolder) reporter.addOutsideFolder(path, span)
}
