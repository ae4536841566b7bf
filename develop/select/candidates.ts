import { posix } from 'node:path'
import type { Project, Service } from '../../compiler/compose/project.ts'
import { Reporter } from '../../compiler/diagnostics/reporter.ts'
import { didYouMean } from '../../compiler/diagnostics/suggest.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { planNames } from '../../compiler/plan/names.ts'
import { shownPlace } from '../../compiler/text/source.ts'
import { inside } from '../files/watch-patterns.ts'
import { type ChooseDev, chooseDev, listed } from './choose.ts'
import { type ComposeFolders, composeFolders, type FolderHost, isSyncRule } from './compose-folders.ts'

/** A service of a Compose file that can be developed, with its folders. */
export interface Candidate extends ComposeFolders {
  readonly service: Service
}

/**
 * Returns the services that `up` can develop without a manifest, in the order of the file: services that are built from
 * source and have a local folder, or into which `develop.watch` copies files. If there are none, returns the services
 * that run the folder of the Compose file in a stock image (`image: node`, `volumes: [.:/app]`).
 */
export function candidatesOf(project: Project, host: FolderHost): readonly Candidate[] {
  const all = withFolders(project, host)
  const changed = all.filter(isChanged)
  return changed.length > 0 ? changed : all.filter(one => runsProject(one, project, host))
}

/**
 * Returns the services that `up --all` develops, in the order of the file: services that are built from source or
 * watched, and services that run the project in a stock image.
 */
export const allCandidatesOf = (project: Project, host: FolderHost): readonly Candidate[] =>
  withFolders(project, host).filter(one => isChanged(one) || runsProject(one, project, host))

const withFolders = (project: Project, host: FolderHost): readonly Candidate[] =>
  [...project.services.values()]
    .map((service): Candidate => ({ service, ...composeFolders(service, host) }))
    .filter(({ folders }) => folders.some(({ file }) => file === undefined))

const isChanged = ({ service }: Candidate): boolean => service.build !== undefined || service.watch.some(isSyncRule)

/**
 * True if a service runs the project's code. Excludes a database with a folder of scripts, and a server that only reads
 * its pages.
 */
const runsProject = ({ service, folders }: Candidate, project: Project, host: FolderHost): boolean => {
  // The links of the folders are resolved, too.
  const directory = host.realPath(project.directory)
  const readOnly = new Set(service.mounts.flatMap(({ readOnly, target }) => (readOnly ? [target.value] : [])))
  return folders.some(
    ({ local, remote, file }) =>
      file === undefined && !readOnly.has(remote) && (local === directory || inside(directory, local) !== undefined),
  )
}

/**
 * Returns the service for `up`: the service with the given name, the only candidate, or the one that the user chooses.
 * Throws a UserError if the named service cannot be developed, if there are no candidates, or if the user cannot be
 * asked; the error lists the candidates or says what to add. Throws a LeftError if the user chooses none.
 */
export async function chooseCandidate(
  project: Project,
  host: FolderHost,
  name: string | undefined,
  choose: ChooseDev | undefined,
): Promise<Candidate> {
  if (name !== undefined) return namedCandidate(project, host, name)
  const all = candidatesOf(project, host)
  if (all.length === 0) throw nothingToSync(undefined, project)
  const names = all.map(({ service }) => service.name)
  const chosen = await chooseDev(names, undefined, choose)
  return all[names.indexOf(chosen)]!
}

/** Returns the service with this name in the Compose file or in Kubernetes; undefined if there is none. */
export function serviceNamed(project: Project, name: string): Service | undefined {
  const names = planNames(project, {}, new Reporter())
  const renamed = () => [...project.services.values()].find(one => names.of(one.name) === name)
  return project.services.get(name) ?? renamed()
}

/**
 * Returns the service with this name as a candidate. Any local folder or file makes the service a candidate, because
 * the user who names the service knows what it is. Throws a UserError if the service does not exist or has no local
 * folder or file.
 */
function namedCandidate(project: Project, host: FolderHost, name: string): Candidate {
  const service = serviceNamed(project, name)
  const workable = () =>
    [...project.services.values()].filter(one => composeFolders(one, host).folders.length > 0).map(one => one.name)
  if (!service) throw noSuchCandidate(name, project, workable())
  const found = { service, ...composeFolders(service, host) }
  if (found.folders.length === 0) throw nothingToSync(found, project, workable())
  return found
}

/**
 * Returns the error for a service that does not exist. Suggests only services that can be developed, if there are any.
 */
function noSuchCandidate(name: string, { services }: Project, workable: readonly string[]): UserError {
  const names = workable.length > 0 ? workable : [...services.keys()]
  const begun = names.filter(one => one.startsWith(name))
  const begins = begun.length === 1 ? `did you mean \`${begun[0]}\`?` : undefined
  const all = workable.length > 0 ? choice(workable) : `the services are ${listed(names)}`
  return new UserError(`service \`${name}\` does not exist`, { hint: didYouMean(name, names) ?? begins ?? all })
}

/** Returns the hint with the names to choose from: ``choose `api` or `web`, which have folders of this machine``. */
const choice = (names: readonly string[]): string =>
  names.length === 1
    ? `choose \`${names[0]}\`, which has a folder of this machine`
    : `choose ${listed(names.slice(0, -1))} or \`${names.at(-1)}\`, which have folders of this machine`

/**
 * Returns the error for a project or a service without a folder to develop. The hint names the services that have such
 * a folder. If no service has one, the hint shows the two lines to add to a service, preferably a service that is
 * built.
 */
export function nothingToSync(
  candidate: Candidate | undefined,
  { services }: Pick<Project, 'services'>,
  workable: readonly string[] = [],
): UserError {
  const message = candidate
    ? `service \`${candidate.service.name}\` has no folder of this machine to work on`
    : 'no service has a folder of this machine to work on'
  const notes = (candidate?.problems ?? []).map(({ span, text }) => `${shownPlace(span)}: ${text}`)
  if (workable.length > 0) return new UserError(message, { notes, hint: choice(workable) })
  const own = candidate?.service.build || candidate?.folders.length ? candidate.service : undefined
  const example = own ?? [...services.values()].find(({ build }) => build)
  const target = posix.resolve('/', example?.workingDir?.value ?? '/app')
  const indent = ' '.repeat(2 * Math.max(1, example ? example.span.file.position(example.span.start).column - 1 : 2))
  return new UserError(message, {
    notes,
    hint: `add two lines to ${example ? `\`${example.name}\`` : 'the service that you work on'}:`,
    lines: [`${indent}volumes:`, `${indent}  - ${sourceOf(example)}:${target}`],
  })
}

/** Returns the build context of the service as a short relative path, or else `.`. */
function sourceOf(service: Service | undefined): string {
  const context = service?.build?.context
  if (!context?.value.startsWith('/')) return '.'
  const written = context.span.file.text.slice(context.span.start, context.span.end).replace(/^(["'])(.*)\1$/, '$2')
  return /^\.{1,2}(?:\/[\w.-]+)*$/.test(written)
    ? written
    : /^[\w.-]+(?:\/[\w.-]+)*$/.test(written)
      ? `./${written}`
      : '.'
}
