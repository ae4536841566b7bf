import { printable } from '../../compiler/values/printable.ts'
import { maskSecrets } from '../../compiler/values/secrets/mask-secrets.ts'
import { type ConflictingFile, OverwriteRefusal } from '../../gitops/repository/tree/overwrite-refusal.ts'
import { holdsSecret } from '../../project/lock.ts'
import { type Io, wantsColour } from './io.ts'

/** Maximum numbers of lines shown: `LONGEST_FILE` for one file, `LONGEST` for all files together. */
const LONGEST_FILE = 40
const LONGEST = 200

/**
 * Calls `work` and returns its result. If `work` throws an error, calls `pause`, which ends other output on standard
 * error, and rethrows the error. If the error is that files were edited by hand, also prints on standard error how the
 * files differ from the content that devctl would write.
 */
export async function showingEdits<Result>(
  io: Io,
  work: () => Promise<Result>,
  pause: () => void = () => {},
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    pause()
    if (error instanceof OverwriteRefusal)
      io.stderr.write(await editDiff(error.folder, error.edits, wantsColour(io.stderr, io.env)))
    throw error
  }
}

/**
 * Returns a unified diff from the contents of a folder to the contents that devctl would write. Masks values that look
 * secret, and omits the files of Secrets.
 */
export async function editDiff(folder: string, edits: readonly ConflictingFile[], colour: boolean): Promise<string> {
  const shown: string[] = []
  for (const [index, edit] of edits.entries()) {
    const lines = await linesOf(folder, edit)
    const room = Math.min(LONGEST_FILE, LONGEST - shown.length)
    if (room <= 0) {
      shown.push(`… and ${edits.length - index} more files`)
      break
    }
    shown.push(...lines.slice(0, room))
    if (lines.length > room) shown.push(`… ${lines.length - room} more lines`)
  }
  return shown.map(line => `${colour ? paint(line) : line}\n`).join('')
}

/**
 * Returns a unified diff from the current text of a file to the text that devctl would write, with no limit on its
 * length. Masks values that look secret, and does not show the content of a Secret.
 */
export async function fileDiff(
  { path, before, text }: { readonly path: string; readonly before?: string; readonly text: string },
  colour: boolean,
): Promise<string> {
  const lines = await linesOf('.', { path, there: before ?? '', wanted: text, isOurs: true })
  return lines.map(line => `${colour ? paint(line) : line}\n`).join('')
}

async function linesOf(folder: string, { path, there, wanted }: ConflictingFile): Promise<readonly string[]> {
  const name = folder === '.' ? path : `${folder}/${path}`
  const head = [
    `--- ${name} (as it is)`,
    `+++ ${name} (${wanted === undefined ? 'to be removed' : 'what devctl writes'})`,
  ]
  if (holdsSecret(path)) return [...head, '  it contains a Secret and is not shown']
  // There is no new text to compare a file with that will be deleted, so its manual edits are unknown.
  if (wanted === undefined) return head
  const { structuredPatch } = await import('diff')
  const texts = [there, wanted].map(text => text.replaceAll('\r\n', '\n'))
  const masked = texts.map(text => maskSecrets(text))
  const [old, fresh] = masked.map(text => text.split('\n')) as [string[], string[]] // map keeps the length
  // The texts are compared with their secrets, so that a changed one is a change. With a secret of several lines, it is
  // not known which masked line to show.
  const isByLine = texts.every((text, at) => text.split('\n').length === [old, fresh][at]?.length)
  const [before, after] = (isByLine ? texts : masked) as [string, string]
  const { hunks } = structuredPatch('', '', before, after, '', '', { context: 2 })
  if (hunks.length === 0) return [...head, '  they differ only in masked values or line endings']
  return [
    ...head,
    ...hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => {
      let [oldAt, newAt] = [oldStart - 1, newStart - 1]
      const shown = lines.map(line => {
        if (line.startsWith('+')) return `+${fresh[newAt++]}`
        if (line.startsWith('\\')) return line
        if (line.startsWith(' ')) newAt++
        return `${line[0]}${old[oldAt++]}`
      })
      return [`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`, ...shown.map(printable)]
    }),
  ]
}

function paint(line: string): string {
  const code = /^(?:---|\+\+\+)/.test(line) ? 1 : line.startsWith('-') ? 31 : line.startsWith('+') ? 32 : 0
  return code === 0 ? line : `\u001b[${code}m${line}\u001b[0m`
}
