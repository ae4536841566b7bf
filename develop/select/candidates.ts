import { posix } from 'node:path'
import type { Project, Service } from '../../compiler/compose/project.ts'
import { didYouMean } from '../../compiler/diagnostics/suggest.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { shownPlace } from '../../compiler/text/source.ts'
import { inside } from '../files/watch-patterns.ts'
import { type ChooseDev, chooseDev, listed } from './choose.ts'
import { type ComposeFolders, composeFolders, type FolderHost, isSyncRule } from './compose-folders.ts'

/** A service of a Compose file that can be worked on, with its folders. */
export interface Candidate extends ComposeFolders {
  readonly service: Service
}

/**
 * The services that `up` can work on without a manifest, in the order of the file: those that
 * people change, since they are built and have a folder of this machine, or since `develop.watch`
 * copies files into them. If there is none, those that run the folder of the Compose file in an
 * image that is not theirs (`image: node`, `volumes: [.:/app]`).
 */
export function candidatesOf(project: Project, host: FolderHost): readonly Candidate[] {
  const all = withFolders(project, host)
  const changed = all.filter(isChanged)
  return changed.length > 0 ? changed : all.filter(one => runsProject(one, project))
}

/** The services that `up --all` works on, in the order of the file: those of either kind that `candidatesOf` knows. */
export const allCandidatesOf = (project: Project, host: FolderHost): readonly Candidate[] =>
  withFolders(project, host).filter(one => isChanged(one) || runsProject(one, project))

const withFolders = (project: Project, host: FolderHost): readonly Candidate[] =>
  [...project.services.values()]
    .map((service): Candidate => ({ service, ...composeFolders(service, host) }))
    .filter(({ folders }) => folders.some(({ file }) => file === undefined))

const isChanged = ({ service }: Candidate): boolean => service.build !== undefined || service.watch.some(isSyncRule)

/** A database with a folder of scripts does not, and neither does a server that only reads its pages. */
const runsProject = ({ service, folders }: Candidate, { directory }: Project): boolean => {
  const readOnly = new Set(service.mounts.flatMap(({ readOnly, target }) => (readOnly ? [target.value] : [])))
  return folders.some(
    ({ local, remote, file }) =>
      file === undefined && !readOnly.has(remote) && (local === directory || inside(directory, local) !== undefined),
  )
}

/**
 * The service that `up` works on: the one that is named, the only candidate, or the one that the
 * person chooses. Throws a UserError that lists the candidates, or says what to add if there is
 * none.
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

/** A service that is named needs only a folder or file: the user knows what it is. */
function namedCandidate(project: Project, host: FolderHost, name: string): Candidate {
  const service = project.services.get(name)
  const workable = () =>
    [...project.services.values()].filter(one => composeFolders(one, host).folders.length > 0).map(one => one.name)
  if (!service) throw noSuchCandidate(name, project, workable())
  const found = { service, ...composeFolders(service, host) }
  if (found.folders.length === 0) throw nothingToSync(found, project, workable())
  return found
}

/** The error for a service that does not exist; what is suggested can be worked on, if anything can. */
function noSuchCandidate(name: string, { services }: Project, workable: readonly string[]): UserError {
  const names = workable.length > 0 ? workable : [...services.keys()]
  const begun = names.filter(one => one.startsWith(name))
  const begins = begun.length === 1 ? `did you mean \`${begun[0]}\`?` : undefined
  const all = workable.length > 0 ? choice(workable) : `the services are ${listed(names)}`
  return new UserError(`service \`${name}\` does not exist`, { hint: didYouMean(name, names) ?? begins ?? all })
}

/** `choose `api` or `web`, which have folders of this machine`. */
const choice = (names: readonly string[]): string =>
  names.length === 1
    ? `choose \`${names[0]}\`, which has a folder of this machine`
    : `choose ${listed(names.slice(0, -1))} or \`${names.at(-1)}\`, which have folders of this machine`

/**
 * The error for a project, or a service, without a folder to work on. The hint names those that have
 * one; if there are none, the two lines to add follow it, for a service that is built.
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

/** The folder that the service is built from, as far as it can be written shortly. */
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
