import { execFileSync } from 'node:child_process'
import { root } from './cases.ts'

/**
 * Returns the paths of the project's files, relative to its root: those that git tracks, and new ones that it does not
 * ignore.
 */
export const projectFiles = (): readonly string[] =>
  execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root })
    .toString()
    .split('\0')
    .filter(path => path !== '')
