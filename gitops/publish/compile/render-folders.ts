import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import type { Manifest } from '../../../constructs/manifest.ts'
import type { OpenProject } from '../../../project/opened-project.ts'
import type { LocalContext } from '../../../project/session.ts'
import { forControllers } from '../../agents/marks.ts'
import { layout } from '../../repository/layout/layout.ts'
import type { Repository } from '../../repository/publication.ts'
import type { PublishedFolder } from '../../repository/published-folder.ts'
import type { PublishEvent } from '../events.ts'
import { factsOf, type Origin, shapingOptions } from '../facts.ts'
import type { PublishInput } from '../input.ts'
import { readmeData } from '../readme-data.ts'
import type { Encrypted } from '../secrets/kept-secrets.ts'
import { sealerOf, sealManifests } from '../secrets/seal-secrets.ts'
import { refuseSecrets } from '../secrets/secret-check.ts'
import { sopsManifests, sopsOf } from '../secrets/sops-secrets.ts'
import type { Destination } from '../target/destination.ts'
import { asWritten } from './as-written.ts'
import { type CompiledForRepository, compileBase } from './compile-for-repository.ts'
import { foldersOf } from './folders.ts'
import { type Replacement, withReplacements } from './replacements.ts'

/** Application to publish, as known before the repository is read. */
export interface Prepared {
  readonly project: OpenProject
  readonly compiled: CompiledForRepository
  readonly destination: Pick<Destination, 'path' | 'layout'>
  /** Source as reported by git; a promise, because git may still be running. */
  readonly origin: Promise<Origin>
}

/** Functions that render the folders of an application. */
export interface RenderFolders {
  /**
   * Returns the folders. Needs the repository's current content (`there`), because encrypted values and bases depend on
   * it. Throws a UserError, for example for a change that would lose data. The result contains no plain-text secrets.
   */
  folders(there: Repository): Promise<readonly PublishedFolder[]>
  /** Returns the manifests of the last call to `folders`, with secret values encrypted. */
  manifests(): readonly Manifest[]
  /** Options with which `publish` produces the same files again, as in the README. */
  readonly options: readonly string[]
}

/**
 * Prepares everything that does not depend on the content of the repository, and returns the functions for the rest.
 * `manifests` are the manifests of `compiled`, as changed by `forController`.
 */
export async function renderFolders(
  world: LocalContext<PublishEvent>,
  options: PublishInput,
  { project, compiled, destination, origin }: Prepared,
  manifests: readonly Manifest[],
): Promise<RenderFolders> {
  const { workspace, on } = world
  const { secrets } = workspace
  const { plan } = compiled
  const application = plan.environment.name
  const isOverlay = destination.layout === 'kustomize'
  const base = isOverlay ? await compileBase(workspace, options, application, project.environment) : undefined
  const encrypt = await encrypterOf(world, compiled, destination)
  const said = asWritten(options, { cwd: workspace.cwd, directory: project.manifest?.folder ?? compiled.directory })
  const about = readmeData(plan, manifests, project, said)
  // Print the files while the repository is fetched. Only overlays and encrypted files depend on its content.
  const printed =
    destination.layout === 'kustomize' || encrypt ? undefined : layout(manifests, { layout: destination.layout, about })
  if (printed) refuseSecrets([{ path: destination.path, files: printed }], compiled, secrets)
  let final = manifests
  let isWarned = false
  const told = new Set<string>()
  const tell = ({ object, place, reason }: Replacement) => {
    if (told.has(object)) return
    told.add(object)
    const { namespace } = plan.environment
    const where = namespace === undefined ? '' : ` --namespace ${namespace}`
    on({
      type: 'warning',
      text: `the controller deletes ${object} and creates it again: ${reason} (${place})`,
      hint: `where it does not, delete it once: \`kubectl${where} delete ${object}\``,
    })
  }
  return {
    manifests: () => final,
    options: [...about.options, ...(about.target ?? [])],
    async folders(there) {
      const sealed = await encrypt?.(manifests, there)
      if (sealed?.isAnew && options.verify) throw new UserError(NOT_COMPARED, { hint: ONE_KEY })
      if (sealed?.isAnew && !isWarned) on({ type: 'warning', text: SEALED_ANEW })
      isWarned = true
      final = sealed?.manifests ?? manifests
      const source = await origin
      const facts = factsOf({ ...compiled, manifests }, project, source, shapingOptions(said))
      const written = {
        application,
        ...(base && { base: forControllers(base) }),
        about,
        facts: { ...facts, ...(sealed && { sealed: sealed.marks }) },
        takeOver: options.takeOver ?? false,
        isOnlyLooked: options.verify ?? false,
      }
      const plain = foldersOf(destination, { ...written, ...(printed && { files: printed }), manifests: final }, there)
      const marked = await withReplacements(final, plain, there, compiled.tree)
      marked?.replaced.forEach(tell)
      if (marked) final = marked.manifests
      const made = marked ? foldersOf(destination, { ...written, manifests: final }, there) : plain
      if (!printed)
        refuseSecrets(
          made.map(({ path, output: { files } }) => ({ path, files })),
          compiled,
          secrets,
        )
      return made
    },
  }
}

/**
 * Returns a function that encrypts the Secrets of an environment for a repository; undefined if the environment
 * publishes no Secrets. Throws a UserError for a certificate or key that cannot be read.
 */
async function encrypterOf(
  world: LocalContext<PublishEvent>,
  compiled: CompiledForRepository,
  destination: Pick<Destination, 'path' | 'layout'>,
): Promise<((manifests: readonly Manifest[], there: Repository) => Promise<Encrypted>) | undefined> {
  const { workspace, signal } = world
  const sealer = await sealerOf(world, compiled, compiled.directory)
  if (sealer) return (manifests, there) => sealManifests(manifests, sealer, there, destination.path)
  const sops = await sopsOf(workspace, compiled)
  return (
    sops &&
    ((manifests, there) => sopsManifests(manifests, sops, there, { ...destination, env: workspace.env, signal }))
  )
}

const ONE_KEY =
  'use the same DEVCTL_SEALING_KEY on all machines that publish (the key of a machine is `sealing.key` in its DEVCTL_HOME)'
const SEALED_ANEW = `all values are sealed again, because they were sealed with a key that this machine does not have: ${ONE_KEY}`
const NOT_COMPARED = 'the sealed values cannot be compared: they were sealed with another key than this machine has'
