import { copyFileSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Git, type GitOptions, openGit } from './git.ts'
import { withTemporary } from './temporary.ts'

/** Settings of a repository that describe its files and cannot name a program. */
const HARMLESS = ['autocrlf', 'eol', 'filemode', 'ignorecase', 'precomposeunicode', 'safecrlf', 'symlinks']
/**
 * Files that are copied from the repository: the patterns for ignored files and for attributes, and the file that marks
 * the end of a shallow history.
 */
const COPIED = ['info/exclude', 'info/attributes', 'shallow']

/** The parts of a repository that contain no program. In a linked worktree, these parts are in several folders. */
export interface SourceParts {
  /** Hash algorithm of the object ids: `sha1`, `sha256`. */
  readonly format: string
  /**
   * Path of the original index. The index is not copied, because its modification time matters: with a copy, git would
   * assume that files of the same size are unchanged.
   */
  readonly index: string
  /**
   * Turns a folder into the git folder of a new repository, which has the same objects and the same commit checked out
   * as the original repository.
   */
  copyTo(gitFolder: string): void
}

/**
 * Runs git in the source's repository as if that repository had no configuration and no hooks: no filters, monitors,
 * helpers or signing programs from its `.git/config` are run, nothing is fetched, and nothing in it is changed. Returns
 * undefined outside a repository, before its first commit, and without git.
 */
export async function withSource<Result>(
  top: string,
  options: GitOptions,
  work: (git: Git) => Promise<Result>,
): Promise<Result | undefined> {
  const parts = await readParts(top, options)
  if (!parts) return undefined
  return withTemporary(options.env, async folder => {
    parts.copyTo(folder)
    linkSharedIndexes(parts.index, folder)
    const place = { GIT_DIR: folder, GIT_WORK_TREE: top, GIT_INDEX_FILE: parts.index, GIT_OPTIONAL_LOCKS: '0' }
    return work(openGit(top, { ...options, place }))
  })
}

/**
 * Finds the parts of a repository, with commands that run no programs whatever its configuration contains. Returns
 * undefined in the same cases as `withSource`.
 */
export async function readParts(top: string, options: GitOptions): Promise<SourceParts | undefined> {
  const git = openGit(top, options)
  const names = ['objects', 'index', ...COPIED]
  const paths = names.flatMap(name => ['--git-path', name])
  const [said, settings] = await Promise.all([
    git.ask('rev-parse', '--path-format=absolute', '--show-object-format', ...paths, '--verify', 'HEAD'),
    git.ask('config', '--null', '--local', '--includes', '--get-regexp', `^core\\.(${HARMLESS.join('|')})$`),
  ])
  const [format, objects, index, ...rest] = said?.split('\n') ?? []
  const head = rest.pop()
  if (format === undefined || objects === undefined || index === undefined || head === undefined) return undefined
  return {
    format,
    index,
    copyTo(folder) {
      for (const name of ['objects/info', 'refs', 'info']) mkdirSync(join(folder, name), { recursive: true })
      writeFileSync(join(folder, 'HEAD'), `${head}\n`)
      writeFileSync(join(folder, 'config'), configurationOf(format, settings ?? ''))
      writeFileSync(join(folder, 'objects/info/alternates'), `${objects}\n`)
      for (const [at, path] of rest.entries()) if (existsSync(path)) copyFileSync(path, join(folder, COPIED[at]!))
    },
  }
}

/**
 * Links the shared parts of a split index, which are next to the index, into the folder of the temporary repository.
 */
function linkSharedIndexes(index: string, folder: string): void {
  if (!existsSync(index)) return
  for (const name of readdirSync(dirname(index)).filter(name => name.startsWith('sharedindex.')))
    symlinkSync(join(dirname(index), name), join(folder, name))
}

function configurationOf(format: string, settings: string): string {
  const core = settings.split('\0').flatMap(line => {
    const [, name, value] = /^core\.(\w+)\n(\w*)$/.exec(line) ?? []
    return name === undefined ? [] : [`\t${name} = ${value}`]
  })
  const isOther = format !== 'sha1'
  const version = `\trepositoryformatversion = ${isOther ? 1 : 0}`
  const lines = ['[core]', version, ...core, ...(isOther ? ['[extensions]', `\tobjectformat = ${format}`] : [])]
  return `${lines.join('\n')}\n`
}
