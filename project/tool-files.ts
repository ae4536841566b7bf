import { dirname, join, relative, sep } from 'node:path'
import { changeFile, readText } from '../adapters/files/locked-file.ts'
import { visibleText } from '../compiler/text/visible-text.ts'
import { devctlHome, type Surroundings } from './contexts/home.ts'
import type { CommonEvent } from './events.ts'

// Files that say what tools run on this machine, and that development containers have written: `up` notes them, and the
// next command that works on the project names them once.

/** Paths that are kept, and that are named. */
const KEPT = 200
const NAMED = 8

const fileOf = (world: Surroundings): string => join(devctlHome(world), 'tool-files.json')

/** Notes files one after the other, as they come. */
export class ToolFileNotes {
  readonly #world: Surroundings
  readonly #fails: (error: unknown) => void
  #coming: readonly string[] = []
  #writing: Promise<void> = Promise.resolve()

  /** `fails` receives the error if some files could not be noted. */
  constructor(world: Surroundings, fails: (error: unknown) => void) {
    this.#world = world
    this.#fails = fails
  }

  /** Takes an absolute path. */
  add(path: string): void {
    this.#coming = [...this.#coming, path]
    if (this.#coming.length === 1) this.#writing = this.#writing.then(() => this.#write()).catch(this.#fails)
  }

  async #write(): Promise<void> {
    const paths = this.#coming
    this.#coming = []
    await change(this.#world, known => [...new Set([...known, ...paths])].slice(-KEPT))
  }

  /** Resolves when all are written. */
  written(): Promise<void> {
    return this.#writing
  }
}

/**
 * Names the files in or above a folder that were noted, as a warning, and forgets them. A note that cannot be read or
 * changed stops no command: it is for the next one.
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

/** Returns the paths in the file; none if the file is damaged. */
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
