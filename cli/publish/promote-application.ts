import { isAbsolute, join, relative, resolve } from 'node:path'
import { UsageError, UserError } from '../../compiler/diagnostics/user-error.ts'
import type { ManifestEnvironment } from '../../compiler/manifest/manifest.ts'
import { toDnsLabel } from '../../compiler/plan/object-names.ts'
import { readPublished } from '../../operations/gitops/published.ts'
import { withSourceAt } from '../../operations/gitops/source-at.ts'
import type { Facts } from '../../operations/gitops/tree/lock.ts'
import { compileFiles } from '../../operations/project/compile-files.ts'
import { repositoryOf } from '../../operations/project/environment-name.ts'
import { openProject } from '../../operations/project/open-project.ts'
import type { OpenProject } from '../../operations/project/opened-project.ts'
import type { Context } from '../command.ts'
import { withDeadline } from '../deadline.ts'
import type { Progress } from '../progress/events.ts'
import { startProgress } from '../progress/progress.ts'
import { destinationOf } from './destination.ts'
import { publishProject } from './publish-application.ts'
import type { PublishValues } from './publish-values.ts'
import { tellFetched } from './tell-fetched.ts'

export type PromoteValues = Omit<PublishValues, 'environment' | 'image' | 'imagesFile' | 'tag' | 'verify'>

/**
 * Publishes to one environment what another one has: the same commit of the source, compiled for the environment it goes to, with the digests of the images that the other one
 * runs (reference/peers.md 5.8). Gives the exit status.
 */
export async function promoteApplication(
  context: Context,
  from: string,
  to: string,
  options: PromoteValues,
): Promise<number> {
  const { io, logLevel } = context
  if (from === to) throw new UsageError(`\`${from}\` is promoted to itself`, { hint: 'name two environments' })
  const hint = 'give it longer with `--timeout`; nothing is half published'
  return withDeadline(io, { timeout: options.timeout, hint }, async signal => {
    const progress = await startProgress(io, logLevel, 'text', () => Date.now())
    const all = { ...options, environment: to, image: undefined, imagesFile: undefined, tag: undefined, verify: false }
    const [source, target] = [await openProject(io, { ...all, environment: from }), await openProject(io, all)]
    for (const { environment } of [source, target]) refuseArtifact(environment)
    const { application, facts } = await publishedAs(context, source, options, progress, signal)
    const { commit } = facts.source
    progress.tell({ type: 'step', step: 'Found', text: `${from} has ${application} at ${commit!.slice(0, 7)}` })
    const folder = target.manifest!.folder
    const top = repositoryOf(folder)?.top
    if (top === undefined)
      throw new UserError('the files are in no git repository', {
        hint: `run it in a checkout of the source of ${from}`,
      })
    return withSourceAt(folder, commit!, { env: io.env, signal }, clone => {
      const moved = (path: string) => inClone(resolve(io.cwd, path), top, clone)
      const own: PublishValues = {
        ...all,
        file: all.file?.map(moved),
        projectDirectory: all.projectDirectory === undefined ? undefined : moved(all.projectDirectory),
        // A temporary folder has a name, too.
        fallbackName: application,
        image: digestsOf(facts),
        addressBase: all.repository === undefined ? folder : io.cwd,
      }
      const cwd = inClone(io.cwd, top, clone)
      return publishProject({ ...context, io: { ...io, cwd } }, own, progress, signal)
    })
  })
}

/** Throws a UserError for an environment that is published to a registry. */
function refuseArtifact(environment: ManifestEnvironment | undefined): void {
  if (!environment?.publish.oci) return
  throw new UserError(`\`${environment.key}\` is published as an artifact, and \`promote\` is for repositories`, {
    hint: 'check the commit out, and publish it with the same images: `devctl publish --environment … --image …`',
  })
}

/** What an environment holds now. Throws a UserError where that cannot be made again. */
async function publishedAs(
  { io }: Context,
  project: OpenProject,
  options: PromoteValues,
  progress: Progress,
  signal: AbortSignal,
): Promise<{ readonly application: string; readonly facts: Facts }> {
  const environment: ManifestEnvironment = project.environment!
  const application = await applicationName(io, project, options)
  const { file, projectDirectory } = options
  const place = { file, projectDirectory, repository: undefined, branch: undefined, path: undefined, layout: undefined }
  const { target, path } = destinationOf(io, { ...place, pullRequest: false, verify: true }, project, application)
  const lock = await readPublished(target, path, {
    env: io.env,
    signal,
    tell: tellFetched(progress, target.address),
  })
  const name = `\`${environment.key}\``
  if (!lock?.facts)
    throw new UserError(`nothing is published for ${name} in \`${path}\``, {
      hint: `publish it first: \`devctl publish --environment ${environment.key}\``,
    })
  const { commit, isDirty } = lock.facts.source
  if (commit === undefined || isDirty)
    throw new UserError(`what ${name} holds was published from files that are in no commit`, {
      hint: `commit them, and publish ${name} again`,
    })
  return { application: lock.application, facts: lock.facts }
}

/** The application's name, as the folder of its environment has it. The files of today may have mistakes; their name counts all the same. */
async function applicationName(io: Context['io'], project: OpenProject, options: PromoteValues): Promise<string> {
  const compiled = await compileFiles(io, [], { ...options, environment: project.environment!.key }, options, {
    project,
  })
  const name = compiled.plan?.environment.name ?? options.name ?? compiled.project?.name
  if (name === undefined)
    throw new UserError('the name of the application cannot be told from the files', { hint: 'give it with `--name`' })
  return toDnsLabel(name)
}

/** The images that are fixed by a digest: what was tested there is what runs here. Others are as the files and the environment say. */
function digestsOf({ images }: Facts): ReadonlyMap<string, string> {
  return new Map(Object.entries(images).filter(([, image]) => image.includes('@')))
}

function inClone(path: string, top: string, clone: string): string {
  const inside = relative(top, path)
  return inside.startsWith('..') || isAbsolute(inside) ? path : join(clone, inside)
}
