import { basename, dirname, relative } from 'node:path'
import { readText } from '../../adapters/files/locked-file.ts'
import { composeFileIn, overridesOf } from '../../project/names/environment-name.ts'

/** Milliseconds between two checks of a file. */
const INTERVAL = 2000

/** Files that were read at the start of a session, and the folder relative to which messages show their paths. */
interface ReadFiles {
  /** Absolute paths of the manifest, the Compose files and the env files. */
  readonly sources: readonly string[]
  /**
   * True if devctl found the Compose files by searching for them. Another search would also find new override files.
   */
  readonly searched: boolean
  readonly cwd: string
}

/**
 * Watches the files that a session has read, and the override files that it would read if they existed. Calls `note`
 * with a text if a file is changed, created or deleted, because the session continues with the old content. Does not
 * call `note` if a file has returned to its content at the start. Returns a function that stops watching.
 */
export function watchReadFiles(
  { sources, searched, cwd }: ReadFiles,
  note: (text: string) => void,
  interval = INTERVAL,
): () => void {
  const paths = [...new Set([...sources, ...(searched ? sources.flatMap(newOverrides) : [])])]
  const checks = paths.map(path => {
    const before = textOf(path)
    let last = before
    return () => {
      const now = textOf(path)
      if (now === last) return
      last = now
      if (now !== before) note(changeText(relative(cwd, path) || path, before, now))
    }
  })
  // The content is read again and compared: watchers miss a file that is created before they have looked for the first
  // time, and those that an editor replaces.
  const timer = setInterval(() => {
    for (const check of checks) check()
  }, interval).unref()
  return () => clearInterval(timer)
}

/**
 * Returns the paths of the override files that devctl would find next to a Compose file; empty for a Compose file that
 * devctl does not find by itself when it searches the folder.
 */
function newOverrides(path: string): readonly string[] {
  const folder = dirname(path)
  return composeFileIn(folder) === basename(path) ? overridesOf(path) : []
}

/** Returns the content of a file; undefined if it does not exist or cannot be read. */
function textOf(path: string): string | undefined {
  try {
    return readText(path)
  } catch {
    return undefined
  }
}

function changeText(shown: string, before: string | undefined, now: string | undefined): string {
  if (before === undefined) return `\`${shown}\` was created: end \`up\` and start it again to use it`
  const what = now === undefined ? 'was deleted' : 'has changed'
  return `\`${shown}\` ${what}: \`up\` continues with what it read at the start; end it and start it again to use the change`
}
