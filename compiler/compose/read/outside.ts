import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../diagnostics/reporter.ts'
import type { CompilerHost } from '../../host.ts'
import type { Span } from '../../text/source.ts'

const HINT = 'move the file into the project, or add `--allow-outside` if you trust these files'

const refused = diagnostic({
  code: 'files/outside',
  severity: 'error',
  explain: `The files of a project may only name files of that project: what lies in its git repository, outside of one in the folder of its first file. Links are followed before this is looked at. Who can change the files, such as the author of a pull request, could otherwise have any file of the machine read, and put into an image, a manifest or a message.

Where \`CI\` is set every other file is refused; elsewhere it is read, with a warning. What is below \`/proc\`, \`/sys\` and \`/dev\` is refused everywhere.

What you name yourself is read wherever it is: with \`-f\`, \`--env-file\` and \`COMPOSE_FILE\`. For all else there are:

- \`--allow-outside\`, which lets these files name any file;
- \`DEVCTL_ALLOW_OUTSIDE\`, a list of folders that all projects may read from, with \`:\` between them;
- a manifest outside of the checkout, named with \`-f\`: the files that it names, and those of their project, are read.`,
  text: (p: { path: string; isSystem: boolean }) => ({
    message: p.isSystem
      ? `\`${p.path}\` belongs to the system, and is not read for a project`
      : `\`${p.path}\` is outside of the project, and is not read`,
    hint: HINT,
  }),
})
const read = diagnostic({
  code: 'files/outside-read',
  severity: 'warning',
  explain:
    'A file outside of the project was read, because its files say so. Links were followed. Where `CI` is set this is an error, see `files/outside`. Make sure that you know the file and why it is needed; `--allow-outside` silences the warning.',
  text: (p: { path: string }) => ({
    message: `\`${p.path}\` is outside of the project, and is read all the same`,
    hint: HINT,
  }),
})

/**
 * Whether a file or folder, named at `span`, may be read. Reports what is outside of the project: as an error where it may not, else with a warning. The size of a file is
 * counted before it is read: throws OverBudget.
 */
export function mayRead(host: CompilerHost, path: string, span: Span | undefined, reporter: Reporter): boolean {
  const stat = host.stat(path)
  reporter.budget.spend('bytes', stat?.kind === 'file' ? stat.size : 0, span)
  const outside = host.outside?.(path)
  if (!outside || outside.is === 'allowed') return true
  if (outside.is === 'read') warn(outside.path, span, reporter, stat?.kind === 'folder')
  else reporter.report(refused, span, { path: outside.path, isSystem: outside.is === 'system' })
  return outside.is === 'read'
}

/** The folders that a place has been warned of: of what is in them there is nothing more to say. */
const folders = new WeakMap<Reporter, { readonly folder: string; readonly span: Span | undefined }[]>()

function warn(path: string, span: Span | undefined, reporter: Reporter, isFolder: boolean): void {
  const known = folders.get(reporter) ?? []
  const isTold = known.some(
    one => one.span?.file === span?.file && one.span?.start === span?.start && path.startsWith(`${one.folder}/`),
  )
  if (isTold) return
  reporter.report(read, span, { path })
  if (isFolder) folders.set(reporter, [...known, { folder: path, span }])
}
