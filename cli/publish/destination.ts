import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { Manifest } from '../../compiler/manifest/manifest.ts'
import { toDnsLabel } from '../../compiler/plan/object-names.ts'
import { readAddress, refuseInside } from '../../gitops/address.ts'
import type { Target } from '../../gitops/checkout.ts'
import { UsageError } from '../errors.ts'
import type { Io } from '../io.ts'
import type { OpenProject } from '../open-project.ts'
import { checkoutOf, projectFolder } from '../project-folder.ts'
import { folderPath, type PublishingValues } from './options.ts'

/** Where an application is published: what options say, then the environment. */
export interface Destination {
  readonly target: Target
  /** The application's folder in the repository, with `/`. */
  readonly path: string
  readonly layout: 'plain' | 'single-file' | 'kustomize'
}

type Values = Pick<PublishingValues, 'repository' | 'branch' | 'path' | 'layout' | 'file' | 'projectDirectory'> & {
  readonly pullRequest: boolean
  /** What is verified is the branch that controllers read. */
  readonly verify: boolean
  readonly addressBase?: string
}

/** The folder that the overlays of an application share. */
export const sharedFolder = (application: string): string => `apps/${application}`

/** Throws a UsageError for a repository or a folder that nobody has named, and a UserError for an address that is none. */
export function destinationOf(
  io: Io,
  options: Values,
  project: Pick<OpenProject, 'environment' | 'manifest' | 'namesCompose'>,
  application: string,
): Destination {
  const { repository, branch, path, layout, pullRequest, verify, addressBase } = options
  const { environment, manifest } = project
  const publish = environment?.publish
  const address = repository ?? publish?.repository?.value
  if (address === undefined) throw noRepository(environment?.key, manifest)
  const named = path ?? publish?.path?.value ?? (environment && `environments/${environment.key}/${application}`)
  if (named === undefined)
    throw new UsageError('the folder in the repository is not known', {
      hint: `add \`--path environments/ENVIRONMENT/${application}\`, or \`--environment\``,
    })
  folderPath(named, path === undefined ? 'path' : '--path')
  const folder = named.replace(/\/$/, '')
  const form = layout ?? publish?.layout ?? 'plain'
  const into = branch ?? publish?.branch?.value
  const base = addressBase ?? (repository === undefined && manifest ? manifest.folder : io.cwd)
  const isRequest = !verify && (pullRequest || publish?.pullRequest !== undefined)
  const request = isRequest ? requestBranch(environment?.key, application) : undefined
  const read = readAddress(address, base)
  // What is promoted is in a temporary clone of the source that the path is relative to.
  const sources = [projectFolder(io, options, project), ...(repository === undefined ? [base] : [])]
  for (const source of sources) refuseInside(read, checkoutOf(source))
  return {
    target: {
      address: repository === undefined ? read : { ...read, isNamedByUser: true },
      // It may have been an overlay before.
      paths: [folder, sharedFolder(application)],
      ...(into !== undefined && { branch: into }),
      ...(request !== undefined && { request }),
    },
    path: folder,
    layout: form,
  }
}

/**
 * What is known of the target before anything is compiled: the repository, and with the application's name the folders in it. Undefined where even the repository is not known,
 * about which `destinationOf` complains in its turn.
 */
export function earlyTarget(
  io: Io,
  options: Values & Pick<PublishingValues, 'name'>,
  project: OpenProject,
): (Pick<Target, 'address' | 'branch'> & Partial<Pick<Target, 'paths'>>) | undefined {
  const { environment, manifest, namesCompose } = project
  const named = options.name ?? environment?.name?.value ?? (namesCompose ? undefined : manifest?.name?.value)
  try {
    const application = named === undefined ? 'unknown' : toDnsLabel(named)
    const path = named === undefined ? '.' : options.path
    const { target } = destinationOf(io, { ...options, path }, project, application)
    const { address, branch, paths, request } = target
    // What a request is compared with is fetched together with its branch.
    const isKnown = named !== undefined && request === undefined
    return { address, ...(branch !== undefined && { branch }), ...(isKnown && { paths }) }
  } catch (error) {
    if (error instanceof UserError) return undefined
    throw error
  }
}

/** Throws a UsageError where neither an option nor an environment names a repository: all else would be a detour. Mistakes of the manifest come first. */
export function refuseNoRepository({ repository }: Values, { environment, manifest, diagnostics }: OpenProject): void {
  if (repository !== undefined || environment?.publish.repository) return
  if (diagnostics.some(({ severity }) => severity === 'error')) return
  throw noRepository(environment?.key, manifest)
}

/** The branch of an application's pull requests: one for each environment, so that a later publish brings the open request up to date. */
const requestBranch = (environment: string | undefined, application: string) =>
  environment === undefined ? `devctl/${application}` : `devctl/${environment}/${application}`

function noRepository(environment: string | undefined, manifest: Manifest | undefined): UsageError {
  const published = [...(manifest?.environments.values() ?? [])].filter(
    ({ publish }) => publish.repository ?? publish.oci,
  )
  const names = published.map(({ key }) => `\`--environment ${key}\``)
  return new UsageError('the GitOps repository is not known', {
    hint:
      environment === undefined && names.length > 0
        ? `add ${names.join(' or ')}`
        : `add \`--repository ADDRESS\`, or to devctl.yml \`environments: {${environment ?? 'staging'}: {repository: ADDRESS}}\`; \`--oci REGISTRY/PATH\` needs none`,
  })
}
