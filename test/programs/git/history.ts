import { expect } from 'vitest'
import { fingerprint, LOCK_NAME, parseLock } from '../../../project/lock.ts'
import { git, tryGit } from '../../support/git/git.ts'
import { readRef } from '../../support/git/repository.ts'
import { filesAt } from '../../support/git/tree.ts'

/** Returns the texts of a tree of a repository by path; none if the branch does not exist. */
export async function treeAt(repository: string, revision = 'main'): Promise<Readonly<Record<string, string>>> {
  const isThere =
    readRef(repository, `refs/heads/${revision}`) !== undefined || (await isRevision(repository, revision))
  return isThere ? filesAt(repository, revision) : {}
}

async function isRevision(repository: string, revision: string): Promise<boolean> {
  return (await tryGit(repository, ['rev-parse', '--quiet', '--verify', revision])).status === 0
}

/** Returns a tree without its lock files. */
export function withoutLocks(tree: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(tree).filter(([path]) => !path.endsWith(LOCK_NAME)))
}

/** Each lock file of a tree names exactly the files of its folder, as they are. */
export function expectValidLocks(tree: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(tree).filter(([path]) => path.endsWith(`/${LOCK_NAME}`))) {
    const folder = path.slice(0, -LOCK_NAME.length)
    const { files, pending } = parseLock(`${text}\n`, path)
    const there = Object.entries(tree).filter(([file]) => file.startsWith(folder) && file !== path)
    const found = there.map(([file, content]) => {
      const name = file.slice(folder.length)
      return [name, fingerprint(name, `${content}\n`)] as const
    })
    expect(Object.fromEntries(found), path).toEqual(Object.fromEntries(files))
    expect(pending.size, path).toBe(0)
  }
}

/**
 * Checks that the commits after `first` are linear, and that each of them changes the files of one folder of a publish
 * and names their source. Returns these commits.
 */
export async function expectCleanHistory(repository: string, first: string): Promise<readonly string[]> {
  expect(await git(repository, 'rev-list', '--merges', 'main')).toBe('')
  const listed = await git(repository, 'rev-list', '--reverse', `${first}..main`)
  const commits = listed === '' ? [] : listed.split('\n')
  for (const commit of commits) {
    const changed = (await git(repository, 'diff-tree', '--no-commit-id', '--name-only', '-r', commit)).split('\n')
    const locks = changed.filter(path => path.endsWith(`/${LOCK_NAME}`))
    expect(locks, `the commit ${commit} writes one lock`).toHaveLength(1)
    const folder = locks[0]!.slice(0, -LOCK_NAME.length)
    expect(changed.filter(path => !path.startsWith(folder))).toEqual([])
    expect(changed.length, `the commit ${commit} changes more than its lock`).toBeGreaterThan(1)
    const trailers = await git(repository, 'log', '-1', '--format=%(trailers:only,unfold)', commit)
    expect(trailers).toMatch(/^Devctl-Source: \S+@[0-9a-f]{40}$/m)
    expect(trailers).toMatch(/^Devctl-Environment: staging$/m)
    expect(trailers).toMatch(/^Argocd-reference-commit-sha: [0-9a-f]{40}$/m)
    expectValidLocks(await treeAt(repository, commit))
  }
  return commits
}
