import { readAddress } from '../../gitops/address.ts'
import type { Target } from '../../gitops/checkout.ts'
import { UsageError } from '../errors.ts'
import type { Io } from '../io.ts'
import type { OpenProject } from '../open-project.ts'
import { folderPath, type PublishingValues } from './options.ts'

/** Where an application is published: what options say, then the environment. */
export interface Destination {
  readonly target: Target
  /** The application's folder in the repository, with `/`. */
  readonly path: string
  readonly layout: 'plain' | 'single-file' | 'kustomize'
}

/** Throws a UsageError for a repository or a folder that nobody has named, and a UserError for an address that is none. */
export function destinationOf(
  { cwd }: Io,
  { repository, branch, path, layout }: PublishingValues,
  { environment, manifest }: OpenProject,
  application: string,
): Destination {
  const publish = environment?.publish
  const address = repository ?? publish?.repository?.value
  if (address === undefined) throw noRepository(environment?.key)
  const named = path ?? publish?.path?.value ?? (environment && `environments/${environment.key}/${application}`)
  if (named === undefined)
    throw new UsageError('the folder in the repository is not known', {
      hint: `add \`--path environments/ENVIRONMENT/${application}\`, or \`--environment\``,
    })
  folderPath(named, path === undefined ? 'path' : '--path')
  const folder = named.replace(/\/$/, '')
  const into = branch ?? publish?.branch?.value
  const base = repository === undefined && manifest ? manifest.folder : cwd
  return {
    target: { address: readAddress(address, base), paths: [folder], ...(into !== undefined && { branch: into }) },
    path: folder,
    layout: layout ?? publish?.layout ?? 'plain',
  }
}

function noRepository(environment: string | undefined): UsageError {
  const name = environment ?? 'staging'
  return new UsageError('the GitOps repository is not known', {
    hint: `add \`--repository ADDRESS\`, or to devctl.yml \`environments: {${name}: {repository: ADDRESS}}\``,
  })
}
