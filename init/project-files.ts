import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readFile } from '../adapters/files/read-file.ts'

/** Files of a folder to analyze. Paths are relative to the folder, with `/`. */
export interface ProjectFiles {
  /** Returns the text of a file; undefined if it does not exist, or is too large to be handwritten. */
  text(path: string): string | undefined
  has(path: string): boolean
  /** Returns the names in a folder, sorted; names of folders end in `/`. */
  names(folder?: string): readonly string[]
  /** Returns the source files with one of these extensions, in this folder and up to three levels below it. */
  sources(extensions: readonly string[]): readonly string[]
  below(folder: string): ProjectFiles
}

/**
 * Maximum size of a file whose text is read, in bytes. `MOST_SOURCES` is the maximum number of source files that are
 * returned.
 */
const LARGEST = 1 << 20
const MOST_SOURCES = 300

/** Folders that contain no sources of the project itself. */
const NOT_SOURCES = new Set(
  ['node_modules', 'vendor', 'target', 'build', 'dist', 'bin', 'obj', 'venv', '__pycache__', 'test', 'tests'].map(
    name => `${name}/`,
  ),
)

export function openProjectFiles(folder: string): ProjectFiles {
  const names = (inside = '.') => namesIn(join(folder, inside))
  return {
    text: path => {
      const content = readFile(join(folder, path))
      return content.kind === 'file' && content.bytes.length <= LARGEST
        ? new TextDecoder().decode(content.bytes)
        : undefined
    },
    has: path => {
      const at = path.lastIndexOf('/')
      const name = path.slice(at + 1)
      const found = names(path.slice(0, Math.max(at, 0)) || '.')
      return found.includes(name) || found.includes(`${name}/`)
    },
    names,
    sources: extensions => sourcesIn(names, extensions, '', 3).slice(0, MOST_SOURCES),
    below: inside => openProjectFiles(join(folder, inside)),
  }
}

function namesIn(path: string): readonly string[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true })
    return entries.map(entry => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort()
  } catch {
    return []
  }
}

function sourcesIn(
  names: (folder: string) => readonly string[],
  extensions: readonly string[],
  folder: string,
  depth: number,
): readonly string[] {
  const all = names(folder || '.')
  const files = all.filter(name => extensions.some(one => name.endsWith(one))).map(name => folder + name)
  if (depth === 0) return files
  const folders = all.filter(name => name.endsWith('/') && !name.startsWith('.') && !NOT_SOURCES.has(name))
  return [...files, ...folders.flatMap(name => sourcesIn(names, extensions, folder + name, depth - 1))]
}
