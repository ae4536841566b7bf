import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { root } from './cases.ts'

const call = promisify(execFile)

/** The changes of a recipe of CONTRIBUTING.md: files that it adds, and lines that it adds before others. */
export interface Recipe {
  readonly added?: Readonly<Record<string, string>>
  /** Each `before` occurs once in its file. */
  readonly edits?: readonly (readonly [path: string, before: string, line: string])[]
}

/**
 * Returns the files that a recipe adds or changes, by path. `read` returns a file of the project, or undefined if it
 * does not exist. Throws if a file that is added exists, or if a text that is searched for does not occur exactly once.
 */
export function changesOf(
  { added = {}, edits = [] }: Recipe,
  read: (path: string) => string | undefined,
): ReadonlyMap<string, string> {
  const changed = new Map(Object.entries(added))
  for (const path of changed.keys()) if (read(path) !== undefined) throw new Error(`${path} exists already`)
  for (const [path, before, line] of edits) {
    const text = changed.get(path) ?? read(path) ?? ''
    const count = text.split(before).length - 1
    if (count !== 1) throw new Error(`${path} has \`${before}\` ${count} times`)
    changed.set(
      path,
      text.replace(before, () => line + before),
    )
  }
  return changed
}

/** Returns a file below a folder; undefined if it does not exist. */
export const readFrom =
  (folder: string) =>
  (path: string): string | undefined =>
    existsSync(join(folder, path)) ? readFileSync(join(folder, path), 'utf8') : undefined

/** Follows a recipe in a folder with the sources. Throws as `changesOf` does. */
export function follow(folder: string, recipe: Recipe): void {
  for (const [path, text] of changesOf(recipe, readFrom(folder))) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

/** A copy of the project in its own repository, for making changes. */
export class Copy {
  readonly folder = mkdtempSync(join(tmpdir(), 'devctl-recipes-'))

  /** Copies what git knows, with the changes that are in no commit yet. */
  async fill(): Promise<void> {
    const script = `git ls-files -z --cached --others --exclude-standard | tar --null --ignore-failed-read -T - -cf - | tar -xf - -C "$1"
      cd "$1" && git init --quiet && git add -A && git -c user.name=a -c user.email=a@example.com commit --quiet -m copy`
    await call('bash', ['-c', script, 'bash', this.folder], { cwd: root })
    symlinkSync(join(root, 'node_modules'), join(this.folder, 'node_modules'))
  }

  /** Runs a program of Node.js in the copy. Throws an error with its output if it fails. */
  async node(program: string, ...words: readonly string[]): Promise<void> {
    const { KUBECONFIG: _, ...env } = process.env
    const options = { cwd: this.folder, env: { ...env, NO_COLOR: '1' }, maxBuffer: 64 * 1024 * 1024 }
    try {
      await call(process.execPath, [program, ...words], options)
    } catch (error) {
      const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string } // of execFile
      throw new Error(`${program} ${words.join(' ')} failed:\n${stdout.slice(-4000)}\n${stderr.slice(-5000)}`)
    }
  }

  /** Adds all files to the index of git, as golden cases are those that git knows. */
  async add(): Promise<void> {
    await call('git', ['add', '-A'], { cwd: this.folder })
  }

  read(path: string): string {
    return readFileSync(join(this.folder, path), 'utf8')
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}
