import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { readAddress } from '../../gitops/address.ts'
import type { Target } from '../../gitops/checkout.ts'
import { UsageError } from '../errors.ts'
import type { Io } from '../io.ts'
import type { OpenProject } from '../open-project.ts'
import { sharedFolder } from './folders.ts'
import { folderPath, type PublishingValues } from './options.ts'

/** Where an application is published: what options say, then the environment. */
export interface Destination {
  readonly target: Target
  /** The application's folder in the repository, with `/`. */
  readonly path: string
  readonly layout: 'plain' | 'single-file' | 'kustomize'
}

type Values = Pick<PublishingValues, 'repository' | 'branch' | 'path' | 'layout'> & {
  readonly pullRequest: boolean
  /** What is verified is the branch that controllers read. */
  readonly verify: boolean
  readonly addressBase?: string
}

/** Throws a UsageError for a repository or a folder that nobody has named, and a UserError for an address that is none. */
export function destinationOf(
  { cwd }: Io,
  { repository, branch, path, layout, pullRequest, verify, addressBase }: Values,
  { environment, manifest }: Pick<OpenProject, 'environment' | 'manifest'>,
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
  const form = layout ?? publish?.layout ?? 'plain'
  const into = branch ?? publish?.branch?.value
  const base = addressBase ?? (repository === undefined && manifest ? manifest.folder : cwd)
  const isRequest = !verify && (pullRequest || publish?.pullRequest !== undefined)
  const request = isRequest ? requestBranch(environment?.key, application) : undefined
  return {
    target: {
      address: readAddress(address, base),
      // It may have been an overlay before.
      paths: [folder, sharedFolder(application)],
      ...(into !== undefined && { branch: into }),
      ...(request !== undefined && { request }),
    },
    path: folder,
    layout: form,
  }
}

/** The repository alone, which is known before anything is compiled; undefined where it is not, about which `destinationOf` complains in its turn. */
export function repositoryOf(
  { cwd }: Io,
  { repository, branch, addressBase }: Pick<Values, 'repository' | 'branch' | 'addressBase'>,
  { environment, manifest }: Pick<OpenProject, 'environment' | 'manifest'>,
): Pick<Target, 'address' | 'branch'> | undefined {
  const publish = environment?.publish
  const address = repository ?? publish?.repository?.value
  if (address === undefined) return undefined
  const into = branch ?? publish?.branch?.value
  const base = addressBase ?? (repository === undefined && manifest ? manifest.folder : cwd)
  try {
    return { address: readAddress(address, base), ...(into !== undefined && { branch: into }) }
  } catch (error) {
    if (error instanceof UserError) return undefined
    throw error
  }
}

/** The branch of an application's pull requests: one for each environment, so that a later publish brings the open request up to date. */
const requestBranch = (environment: string | undefined, application: string) =>
  environment === undefined ? `devctl/${application}` : `devctl/${environment}/${application}`

function noRepository(environment: string | undefined): UsageError {
  const name = environment ?? 'staging'
  return new UsageError('the GitOps repository is not known', {
    hint: `add \`--repository ADDRESS\`, or to devctl.yml \`environments: {${name}: {repository: ADDRESS}}\``,
  })
}
