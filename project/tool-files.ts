import { dirname, join, relative, sep } from 'node:path'
import { changeFile, readText } from '../adapters/files/locked-file.ts'
import { visibleText } from '../compiler/text/visible-text.ts'
import { type Surroundings, stateHome } from './contexts/home.ts'
import type { CommonEvent } from './events.ts'

// Development containers may write files that determine which tools run on this machine. `up` records these files, and
// the next command that works on the project lists them once.

/** Maximum number of paths in the record, and maximum number of paths that a warning lists. */
const KEPT = 200
const NAMED = 8

const fileOf = (world: Surroundings): string => join(stateHome(world), 'tool-files.json')

/**
 * Records the tool files that development containers have written, so that the next command can list them
 * (`tellToolFiles`). Files that are added while the record is being written are recorded together afterwards.
 */
export class ToolFileNotes {
  readonly #world: Surroundings
  readonly #fails: (error: unknown) => void
  #coming: readonly string[] = []
  #writing: Promise<void> = Promise.resolve()

  /** `fails` receives the error if some files could not be recorded. */
  constructor(world: Surroundings, fails: (error: unknown) => void) {
    this.#world = world
    this.#fails = fails
  }

  /** Records a file by its absolute path. */
  add(path: string): void {
    this.#coming = [...this.#coming, path]
    if (this.#coming.length === 1) this.#writing = this.#writing.then(() => this.#write()).catch(this.#fails)
  }

  async #write(): Promise<void> {
    const paths = this.#coming
    this.#coming = []
    await change(this.#world, known => [...new Set([...known, ...paths])].slice(-KEPT))
  }

  /** Resolves when all files are recorded. */
  written(): Promise<void> {
    return this.#writing
  }
}

/**
 * Reports the recorded files in or above a folder as a warning, and then removes them from the record. If the record
 * cannot be read or changed, the command continues, and the next command tries again.
 */
export async function tellToolFiles(
  world: Surroundings,
  on: (event: CommonEvent) => void,
  folder: string,
): Promise<void> {
  const isAbout = (path: string) => isIn(path, folder) || isIn(folder, dirname(path))
  const found = pathsIn(noted(world)).filter(isAbout)
  if (found.length === 0) return
  const shown = found.slice(0, NAMED).map(path => `\`${relative(world.cwd, path)}\``)
  const more = found.length > NAMED ? `, and ${found.length - NAMED} more` : ''
  on({
    type: 'warning',
    text: visibleText(
      `a development container has written files that say what tools run on this machine: ${shown.join(', ')}${more}`,
    ),
    hint: 'look at them, for example with `git diff`, before you use a tool that reads them',
  })
  await change(world, known => known.filter(path => !found.includes(path))).catch(() => {})
}

function noted(world: Surroundings): string | undefined {
  try {
    return readText(fileOf(world))
  } catch {
    return undefined
  }
}

function change(world: Surroundings, edit: (paths: readonly string[]) => readonly string[]): Promise<void> {
  const file = fileOf(world)
  return changeFile(file, {
    shown: file,
    isPrivate: true,
    edit: text => `${JSON.stringify({ paths: edit(pathsIn(text)) }, undefined, 2)}\n`,
  })
}

/** Returns the paths in the text of the record; an empty list if it is missing or damaged. */
function pathsIn(text: string | undefined): readonly string[] {
  try {
    const { paths } = JSON.parse(text ?? '{}') as { readonly paths?: unknown }
    return Array.isArray(paths) ? paths.filter(one => typeof one === 'string') : []
  } catch {
    return []
  }
}

const isIn = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`)
