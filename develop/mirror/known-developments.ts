import { readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { didYouMean } from '../../compiler/diagnostics/suggest.ts'
import { UsageError, UserError } from '../../compiler/diagnostics/user-error.ts'
import type { Development } from '../../compiler/manifest/development.ts'
import { toServiceName } from '../../compiler/plan/object-names.ts'
import { isDnsLabel } from '../../compiler/values/dns-name.ts'
import { DEVELOPMENT_LABEL, MIRROR_LABEL } from '../../constructs/mirror/names.ts'
import { upRecordOf } from '../../environment/record/up-record.ts'
import { compileFiles } from '../../project/compile-files.ts'
import { stateHome } from '../../project/contexts/home.ts'
import type { LoadInput } from '../../project/input.ts'
import { labelsOf } from '../../project/names/named-services.ts'
import { requireNamespace } from '../../project/namespaces.ts'
import { manifestOf } from '../../project/open-project.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import { projectFolder } from '../../project/project-folder.ts'
import type { OperationContext } from '../../project/session.ts'
import { type ChooseDev, chooseDev, listed } from '../select/choose.ts'
import { reportOf, sessionKey } from '../session/ask.ts'
import { sessionFolder } from '../session/session-folder.ts'

// Finds the names of active development containers, for commands that only need names. Does not check the manifest as a
// deploy does.

type KnownWorld = Pick<OperationContext, 'workspace' | 'session'>

interface KnownInput extends LoadInput {
  readonly devs?: readonly string[] | undefined
  readonly all?: boolean | undefined
  readonly choose?: ChooseDev | undefined
}

/**
 * Returns the development container with this name in the manifest, even if other parts of the manifest have errors;
 * undefined if there is none.
 */
export const declaredDevelopment = (project: OpenProject, name: string): Development | undefined =>
  [...(manifestOf(project)?.dev.values() ?? [])].find(one => one.name === name)

interface KnownOptions {
  readonly one: boolean
  /** True if the command can work with the sessions on this machine alone when the cluster does not answer. */
  readonly mayBeAlone?: boolean
}

/**
 * Returns the names of the development containers for a command, without duplicates: the given names, or all names with
 * `all`. Without either, returns the names of the active development containers. If `one` is true, the user chooses one
 * of several. Includes names that are no longer in the manifest, but that the cluster or a session on this machine
 * uses. Throws a UserError if there are none, or if a given name is unknown.
 */
export async function knownDevelopments(
  world: KnownWorld,
  { devs, all, choose, ...loading }: KnownInput,
  project: OpenProject,
  { one, mayBeAlone = false }: KnownOptions,
): Promise<readonly string[]> {
  const given = [...new Set(devs)]
  if (all && given.length > 0)
    throw new UsageError('`--all` is for all development containers', { hint: `leave out \`${given.join(' ')}\`` })
  const declared = declaredNames(project)
  if (given.length > 0 && given.every(name => declared.includes(name))) return given
  const active = await activeDevelopments(world, mayBeAlone)
  if (given.length > 0) return namedOf(given, active, declared, () => servicesOf(world, loading, project))
  const folder = projectFolder(world.workspace, loading, project)
  const isOurs = ({ name, projects }: ActiveDevelopment) => projects.has(folder) || declared.includes(name)
  // The project has a different folder on another machine, but the same services.
  const isOpen = declared.length === 0 && !active.every(isOurs)
  const services = isOpen ? [...(await servicesOf(world, loading, project)).values()] : []
  const names = active.filter(one => isOurs(one) || services.includes(one.name)).map(({ name }) => name)
  const wanted = all ? [...new Set([...declared, ...names])] : names
  if (wanted.length > 0) return one ? [await chooseDev(wanted, undefined, choose)] : wanted
  if (declared.length === 1) return declared
  await requireNamespace(world.session)
  throw noneActive(world, declared)
}

/** Returns the error for a project without active development containers. */
function noneActive({ session }: KnownWorld, names: readonly string[]): UserError {
  return new UserError(`no development container of this project is active in ${session.namespace}`, {
    hint: names.length > 0 ? `start one with \`devctl up ${names[0]}\`` : 'start one with `devctl up`',
  })
}

const declaredNames = (project: OpenProject): readonly string[] =>
  [...(manifestOf(project)?.dev.values() ?? [])].map(({ name }) => name)

async function namedOf(
  given: readonly string[],
  active: readonly ActiveDevelopment[],
  declared: readonly string[],
  services: () => Promise<ReadonlyMap<string, string>>,
): Promise<readonly string[]> {
  const known = new Set([...declared, ...active.map(({ name }) => name)])
  const isOpen = declared.length === 0 && !given.every(name => known.has(name))
  const labels = isOpen ? await services() : new Map<string, string>()
  for (const label of labels.values()) known.add(label)
  const find = (name: string) => [name, labels.get(name) ?? toServiceName(name)].find(one => known.has(one))
  return [...new Set(given.map(name => find(name) ?? notKnown(name, [...known])))]
}

function notKnown(name: string, known: readonly string[]): never {
  const all = known.length > 0 ? `the development containers are ${listed(known)}` : undefined
  const hint = didYouMean(name, known) ?? all
  throw new UserError(`development container \`${name}\` does not exist`, hint === undefined ? {} : { hint })
}

/** Returns the names of the Compose services in the cluster, by their names in the files; empty if unreadable. */
async function servicesOf(
  { workspace }: KnownWorld,
  loading: LoadInput,
  project: OpenProject,
): Promise<ReadonlyMap<string, string>> {
  try {
    const { project: model } = await compileFiles(workspace, [], loading, {}, { project })
    return model ? await labelsOf(model) : new Map()
  } catch (error) {
    if (error instanceof UserError) return new Map()
    throw error
  }
}

/** A development container in the cluster, or with a session on this machine. */
interface ActiveDevelopment {
  readonly name: string
  /** Folders of the projects that the development container belongs to; empty if none is known. */
  readonly projects: ReadonlySet<string>
}

/** Returns the active development containers of the namespace, sorted by name. */
async function activeDevelopments(world: KnownWorld, mayBeAlone: boolean): Promise<readonly ActiveDevelopment[]> {
  const found = new Map<string, Set<string>>()
  const add = (name: string, project: string | undefined) => {
    const projects = found.get(name) ?? new Set()
    if (project !== undefined) projects.add(project)
    found.set(name, projects)
  }
  const asked = allMirrors(world)
  asked.catch(() => {})
  const reports = await Promise.all(namesHere(world).map(name => reportOf(world, name)))
  const mirrors = await asked.catch(error => {
    if (mayBeAlone && reports.some(report => report !== undefined)) return []
    throw error
  })
  for (const one of mirrors) {
    const name = one.metadata.labels?.[DEVELOPMENT_LABEL] ?? ''
    // Names of development containers are DNS labels (`readDevelopment`), but the API server could return anything.
    if (isDnsLabel(name)) add(name, upRecordOf(one)?.project)
  }
  for (const one of reports) if (one) add(one.dev, one.folder)
  return [...found].map(([name, projects]) => ({ name, projects })).sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Returns all mirrors of the namespace, including those that are being deleted. */
function allMirrors({ session: { cluster, namespace, signal } }: KnownWorld): Promise<readonly KubeObject[]> {
  const labels = `${MIRROR_LABEL},${DEVELOPMENT_LABEL}`
  return cluster.list({ apiVersion: 'apps/v1', kind: 'Deployment', namespace, labels }, { signal })
}

/** Returns the names of the development containers in this namespace for which this machine has a session folder. */
function namesHere({ workspace, session }: KnownWorld): readonly string[] {
  const folder = dirname(sessionFolder(stateHome(workspace), sessionKey(session, 'any')))
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
