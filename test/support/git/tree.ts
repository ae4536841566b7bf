import { git, gitBytes } from './git.ts'

/**
 * Returns the texts of the files of a revision by path, without the ends of their last lines. Throws if there is no
 * such revision.
 */
export async function filesAt(repository: string, revision: string): Promise<Readonly<Record<string, string>>> {
  const lines = (await git(repository, 'ls-tree', '-r', '-z', revision)).split('\0').filter(line => line !== '')
  const files = lines.map(line => /^\d+ blob (\S+)\t(.*)$/s.exec(line)!.slice(1) as [id: string, path: string])
  const texts = await blobs(
    repository,
    files.map(([id]) => id),
  )
  return Object.fromEntries(files.map(([, path], index) => [path, texts[index]!]))
}

/** Reads blobs with one process. */
async function blobs(repository: string, ids: readonly string[]): Promise<readonly string[]> {
  const input = ids.map(id => `${id}\n`).join('')
  const { status, stdout, stderr } = await gitBytes(repository, ['cat-file', '--batch'], { input })
  if (status !== 0) throw new Error(`git cat-file: status ${status}\n${stderr}`)
  let at = 0
  return ids.map(id => {
    const end = stdout.indexOf('\n', at)
    const [, size] = / blob (\d+)$/.exec(stdout.toString('latin1', at, end)) ?? []
    if (size === undefined) throw new Error(`git cat-file: no blob ${id}`)
    const start = end + 1
    at = start + Number(size) + 1
    return stdout.toString('utf8', start, at - 1).trimEnd()
  })
}
