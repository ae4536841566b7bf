import { createHash } from 'node:crypto'
import { readAddress, refuseInside } from '../../../adapters/git/address.ts'
import { UsageError, UserError } from '../../../compiler/diagnostics/user-error.ts'
import type { DevctlManifest, ManifestEnvironment } from '../../../compiler/manifest/manifest.ts'
import { toDnsLabel } from '../../../compiler/plan/object-names.ts'
import type { Span } from '../../../compiler/text/source.ts'
import { folderPath } from '../../../project/checks.ts'
import type { OpenProject } from '../../../project/opened-project.ts'
import { checkoutOf, projectFolder } from '../../../project/project-folder.ts'
import type { Workspace } from '../../../project/workspace.ts'
import type { PushTarget } from '../../repository/checkout.ts'
import type { PublishInput } from '../input.ts'
import { holdsSecret } from '../secrets/secret-check.ts'

/** Destination of an application. A part that no option names comes from the environment. */
export interface Destination {
  readonly target: PushTarget
  /** Folder of the application in the repository, with `/` as the separator. */
  readonly path: string
  readonly layout: 'plain' | 'single-file' | 'kustomize'
}

type Input = Pick<
  PublishInput,
  'repository' | 'branch' | 'path' | 'layout' | 'file' | 'projectDirectory' | 'pullRequest' | 'verify' | 'addressBase'
>

/** Returns the folder that the overlays of an application share. */
export const sharedFolder = (application: string): string => `apps/${application}`

/** Returns the folder of an application that an environment names; undefined without an environment. */
export const environmentFolder = (environment: ManifestEnvironment | undefined, application: string) =>
  environment && (environment.publish.path?.value ?? `environments/${environment.key}/${application}`)

/**
 * Returns the destination. Throws a UsageError if the repository or the folder is not set, and a UserError for an
 * invalid address.
 */
export function destinationOf(
  workspace: Workspace,
  options: Input,
  project: Pick<OpenProject, 'environment' | 'manifest' | 'namesCompose'>,
  application: string,
): Destination {
  const { repository, branch, path, layout, pullRequest, verify, addressBase } = options
  const { environment, manifest } = project
  const publish = environment?.publish
  const address = repository ?? publish?.repository?.value
  if (address === undefined) throw noRepository(environment?.key, manifest)
  const named = path ?? environmentFolder(environment, application)
  if (named === undefined)
    throw new UsageError('the folder in the repository is not known', {
      hint: `add \`--path environments/ENVIRONMENT/${application}\`, or \`--environment\``,
    })
  folderPath(named, path === undefined ? 'path' : '--path')
  const folder = named.replace(/\/$/, '')
  const form = layout ?? publish?.layout ?? 'plain'
  const into = branch ?? publish?.branch?.value
  const isOwn = { path: path === undefined, branch: branch === undefined }
  refuseSecretName(workspace, 'path', folder, isOwn.path ? publish?.path?.span : undefined)
  if (into !== undefined) refuseSecretName(workspace, 'branch', into, isOwn.branch ? publish?.branch?.span : undefined)
  const base = addressBase ?? (repository === undefined && manifest ? manifest.folder : workspace.cwd)
  // Only the branch that controllers read can be verified.
  const isRequest = !verify && (pullRequest || publish?.pullRequest !== undefined)
  const request = isRequest ? requestBranch(environment, application, { branch: into, folder }) : undefined
  const place = repository === undefined ? publish?.repository?.span : undefined
  const read = atPlace(place, () => readAddress(address, base))
  // A promoted project is in a temporary clone of the source, but the path is relative to the original source.
  const sources = [projectFolder(workspace, options, project), ...(repository === undefined ? [base] : [])]
  for (const source of sources) atPlace(place, () => refuseInside(read, checkoutOf(source)))
  return {
    target: {
      address: repository === undefined ? read : { ...read, isNamedByUser: true },
      // The environment may have been an overlay before.
      paths: [folder, sharedFolder(application)],
      ...(into !== undefined && { branch: into }),
      ...(request !== undefined && { request }),
    },
    path: folder,
    layout: form,
  }
}

/**
 * Throws a UserError if the path of a folder or the name of a branch contains the value of a secret, which would then
 * be in the repository.
 */
function refuseSecretName(
  { secrets }: Workspace,
  what: 'path' | 'branch',
  name: string,
  place: Span | undefined,
): void {
  if (!holdsSecret(name, secrets)) return
  throw new UserError(`the \`${what}\` contains the value of a secret, which would be committed to the repository`, {
    hint: 'use variables that are not secret',
    ...(place && { place }),
  })
}

/**
 * Calls `work`, and adds `place`, the position of a value in a file, to the UserErrors that `work` throws. If the value
 * comes from an option, it has no position, and the errors stay unchanged.
 */
export function atPlace<T>(place: Span | undefined, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof UserError) || !place || error.place) throw error
    const { message, hint, notes } = error
    throw new UserError(message, { ...(hint !== undefined && { hint }), notes, place, cause: error })
  }
}

/**
 * Returns the part of the target that is known before compiling: the repository and, if the application's name is
 * known, the folders in it. Undefined if the repository is unknown, which `destinationOf` reports later.
 */
export function earlyTarget(
  workspace: Workspace,
  options: PublishInput,
  project: OpenProject,
): (Pick<PushTarget, 'address' | 'branch'> & Partial<Pick<PushTarget, 'paths'>>) | undefined {
  const { environment, manifest, namesCompose } = project
  const named = options.name ?? environment?.name?.value ?? (namesCompose ? undefined : manifest?.name?.value)
  try {
    const application = named === undefined ? 'unknown' : toDnsLabel(named)
    const path = named === undefined ? '.' : options.path
    const { target } = destinationOf(workspace, { ...options, path }, project, application)
    const { address, branch, paths, request } = target
    // The base that a request is compared with is fetched together with the request's branch.
    const isKnown = named !== undefined && request === undefined
    return { address, ...(branch !== undefined && { branch }), ...(isKnown && { paths }) }
  } catch (error) {
    if (error instanceof UserError) return undefined
    throw error
  }
}

/**
 * Throws a UsageError if neither an option nor an environment names a repository. Called early, so that the command
 * fails before any other work. Does nothing if there are errors in the files, because those are reported first.
 */
export function refuseNoRepository({ repository }: Input, { environment, manifest, diagnostics }: OpenProject): void {
  if (repository !== undefined || environment?.publish.repository) return
  if (diagnostics.some(({ severity }) => severity === 'error')) return
  throw noRepository(environment?.key, manifest)
}

/**
 * Returns the name of the branch for pull requests of an application. There is one branch for each environment, so that
 * a later publish updates the open pull request. A publish to another base branch or folder than the environment names
 * has a branch of its own, because a branch can be merged into only one base.
 */
function requestBranch(environment: ManifestEnvironment | undefined, application: string, to: Place): string {
  const own = environment?.publish.branch?.value
  const isOwn = to.branch === own && to.folder === environmentFolder(environment, application)?.replace(/\/$/, '')
  if (environment && isOwn) return `devctl/${environment.key}/${application}`
  const place = createHash('sha256').update(JSON.stringify([to.branch, to.folder]))
  // No environment is called `-`. A branch cannot be a folder of other branches, so each name has three parts.
  return `devctl/${environment?.key ?? '-'}/${application}-${place.digest('hex').slice(0, 6)}`
}

/** Base branch and folder that an application is published to. */
interface Place {
  readonly branch: string | undefined
  readonly folder: string
}

function noRepository(environment: string | undefined, manifest: DevctlManifest | undefined): UsageError {
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
