import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { toDnsLabel } from '../../compiler/plan/object-names.ts'
import { repositoryOf } from '../../operations/project/environment-name.ts'
import type { Io } from '../terminal/io.ts'

/** The HTTPS address of the repository of this folder; undefined where it has none. */
export async function addressHere({ cwd }: Pick<Io, 'cwd'>): Promise<string | undefined> {
  const { toHttps } = await import('../../adapters/git/git-facts.ts')
  const address = repositoryOf(cwd)?.address
  return address === undefined ? undefined : toHttps(address)
}

/** The HTTPS address of the repository of this folder. Throws a UsageError. */
export async function repositoryHere(io: Pick<Io, 'cwd'>): Promise<string> {
  const found = await addressHere(io)
  if (found !== undefined) return found
  throw new UsageError('which repository?', {
    hint: 'name it with `--repository https://…`, or run the command in a checkout that has a remote',
  })
}

/** The last part of the address of a repository. */
export const lastPart = (repository: string): string =>
  repository
    .replace(/\/+$/, '')
    .split('/')
    .at(-1)! // a split text has a part
    .replace(/\.git$/, '')

/** What the environment of a repository is called. */
export const nameIn = (repository: string): string => toDnsLabel(lastPart(repository))
