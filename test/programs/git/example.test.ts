import { cpSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { root } from '../../support/cases.ts'
import { makeFolder, read } from '../../support/cli/folder.ts'
import { git, gitEnv, tryGit } from '../../support/git/git.ts'
import { bareRepository } from '../../support/git/repository.ts'
import { run } from '../../support/run.ts'
import { few } from '../../support/takes-all.ts'
import { expectFile, isUpdating } from '../../support/written-file.ts'
import { withRepositoryAt } from './own-git.ts'

const EXAMPLE = join(root, 'examples/gitops')
const TREE = join(EXAMPLE, 'repository')
const ADDRESS = 'https://git.example.com/team/deploy.git'
const APPLICATIONS = ['guestbook', 'queue-worker']
const ENVIRONMENTS = ['staging', 'production']

/** Dates that give the commits of the source the same ids each time. */
const WHEN = { GIT_AUTHOR_DATE: '2025-01-01T00:00:00Z', GIT_COMMITTER_DATE: '2025-01-01T00:00:00Z' }

// The example is rewritten with `-u`, like other expected files.
test('publish writes the files of examples/gitops', async () => {
  const folder = makeFolder()
  const readme = '# The clusters of our team\n\nAll of `environments` and `apps` is written by `devctl publish`.\n'
  const { repository } = await bareRepository(folder, { files: { 'README.md': readme } })
  const source = join(folder, 'source')
  for (const name of APPLICATIONS) {
    cpSync(join(root, 'examples', name), join(source, 'examples', name), { recursive: true })
    cpSync(join(EXAMPLE, name), join(source, 'examples/gitops', name), { recursive: true })
  }
  await git(source, 'init', '--quiet', '--initial-branch=main')
  await git(source, 'remote', 'add', 'origin', 'https://git.example.com/team/applications.git')
  await git(source, 'add', '--all')
  const committed = await tryGit(source, ['commit', '--quiet', '--message', 'the examples'], { env: WHEN })
  expect(committed.status, committed.stderr).toBe(0)

  const env = withRepositoryAt(ADDRESS, pathToFileURL(repository).href, gitEnv())
  const publish = (name: string, ...words: readonly string[]) =>
    run(['publish', '--loglevel', 'info', ...words], { cwd: join(source, 'examples/gitops', name), env })
  for (const name of APPLICATIONS)
    for (const environment of ENVIRONMENTS) {
      const { status, stderr } = await publish(name, '--environment', environment)
      expect(status, stderr).toBe(0)
      expect(stderr, 'diagnostics').not.toMatch(/^(error|warning)\[/m)
    }
  // A merge waits for the environment that was published first: another one has shared its base since.
  for (const name of APPLICATIONS)
    for (const environment of few(ENVIRONMENTS))
      expect((await publish(name, '--environment', environment, '--verify')).status, `${name} ${environment}`).toBe(0)

  await git(folder, 'clone', '--quiet', repository, 'clone')
  rmSync(join(folder, 'clone/.git'), { recursive: true })
  const made = read(join(folder, 'clone'))
  for (const [path, text] of Object.entries(made)) await expectFile(text, join(TREE, path))
  removeOrRefuse(Object.keys(made))
})

/** Removes files that publish no longer writes when the example is updated, and fails otherwise. */
function removeOrRefuse(made: readonly string[]): void {
  const stale = existsSync(TREE) ? Object.keys(read(TREE)).filter(path => !made.includes(path)) : []
  if (isUpdating()) for (const path of stale) rmSync(join(TREE, path))
  else expect(stale).toEqual([])
}
