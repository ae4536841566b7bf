import { type IgnoreRules, parseIgnores } from './ignore.ts'

/** Name of the file with ignore patterns in a sync folder. */
export const IGNORE_FILE = '.stignore'

/**
 * Patterns of paths that are not synchronized if no ignore file exists: version control, the state of devctl, temporary
 * files of editors.
 */
export const DEFAULT_PATTERNS: readonly string[] = [
  '.git',
  '.hg',
  '.svn',
  '/.devctl',
  'devctl-doctor-*.zip',
  // vim, Emacs, the JetBrains editors, GNOME, KDE, LibreOffice
  '.*.sw[a-p]',
  '4913',
  '*~',
  '.#*',
  '#*#',
  '*___jb_tmp___',
  '*___jb_old___',
  '.goutputstream-*',
  '*.kate-swp',
  '.~lock.*#',
  '(?d).DS_Store',
  '(?d)Thumbs.db',
]

/**
 * Folders of packages and build results, which only work on the system on which they were created. Matched by name, or
 * by the end of the path.
 */
const MADE_FOR_A_SYSTEM = ['node_modules', '.venv', '__pycache__', 'target', '.gradle', 'vendor/bundle']

/**
 * Returns the rules of a sync folder without an ignore file. Folders such as `node_modules` are ignored if the
 * container itself has created them: `containerHas` returns true if the container has a folder at the path, and this
 * folder did not come from the laptop.
 */
export function defaultIgnores(containerHas: (folder: string) => boolean): IgnoreRules {
  const { rules } = parseIgnores(DEFAULT_PATTERNS.join('\n'), () => undefined)
  const isOwn = (path: string): boolean => foldersMadeForASystem(path).some(containerHas)
  return {
    ignores: (path, isFolder) => rules.ignores(path, isFolder) || isOwn(path),
    mayHoldIncluded: folder => !isOwn(folder) && rules.mayHoldIncluded(folder),
    deletable: path => rules.deletable(path),
  }
}

/** Returns the folders of packages and build results among the path and its parents. */
function foldersMadeForASystem(path: string): readonly string[] {
  const found: string[] = []
  for (const name of MADE_FOR_A_SYSTEM) {
    for (let at = path.indexOf(name); at !== -1; at = path.indexOf(name, at + 1)) {
      const end = at + name.length
      const isWhole = (at === 0 || path[at - 1] === '/') && (end === path.length || path[end] === '/')
      if (isWhole) found.push(path.slice(0, end))
    }
  }
  return found
}

/** Returns the rules with additional ignored folders, such as the folders of anonymous volumes below a host volume. */
export function ignoringFolders(rules: IgnoreRules, folders: readonly string[]): IgnoreRules {
  if (folders.length === 0) return rules
  const isInside = (path: string) => folders.some(folder => path === folder || path.startsWith(`${folder}/`))
  return {
    ignores: (path, isFolder) => isInside(path) || rules.ignores(path, isFolder),
    mayHoldIncluded: folder => !isInside(folder) && rules.mayHoldIncluded(folder),
    deletable: path => !isInside(path) && rules.deletable(path),
  }
}
