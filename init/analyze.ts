import { basename } from 'node:path'
import type { Diagnostic } from '../compiler/diagnostics/diagnostic.ts'
import type { CompilerHost } from '../compiler/host.ts'
import { automaticManifest } from '../compiler/manifest/automatic.ts'
import { toDnsLabel } from '../compiler/values/dns-name.ts'
import { fallbackName } from '../project/names/environment-name.ts'
import type { Workspace } from '../project/workspace.ts'
import type { Language, ProjectApplication } from './application.ts'
import { type FoundCompose, findCompose } from './compose-services.ts'
import { type FoundDockerfile, findDockerfile } from './dockerfiles.ts'
import { recognise } from './languages/languages.ts'
import type { ProjectFiles } from './project-files.ts'
import { type FoundWorkload, findWorkloads } from './workloads.ts'

/** Result of analyzing a folder that gets a manifest. */
export interface Analysis {
  /** Default name of the environment, as a DNS label. */
  readonly name: string
  readonly compose?: FoundCompose
  readonly applications: readonly FoundApplication[]
  /** Chart or manifests that already deploy the project, with the command that applies them. */
  readonly deployed?: {
    readonly by: 'chart' | 'manifests'
    readonly path: string
    readonly command: string
    /**
     * Workloads of plain manifests. Empty for a chart, because the names of its workloads are known only after it is
     * installed.
     */
    readonly workloads: readonly FoundWorkload[]
    /** Keys of the chart's values that contain an image. */
    readonly images: readonly string[]
  }
}

/** Folder of the project with an application, or with only a Dockerfile. */
export interface FoundApplication {
  /**
   * Name of the application as a DNS label: the name of the workload that deploys the application. Without such a
   * workload, the name of the application's folder or, for the project's own folder, the name of the project.
   */
  readonly name: string
  /** Path relative to the project's folder; `.` for that folder itself. */
  readonly folder: string
  readonly application?: ProjectApplication
  readonly dockerfile?: FoundDockerfile
  /** True if the chart or the manifests of the project deploy the application. */
  readonly isDeployed: boolean
}

/** Project to analyze, and the programming language if only that language should be recognized. */
export interface AnalyzedProject {
  readonly folder: string
  /** Path of the manifest to write, which determines the Compose files that are found. */
  readonly manifest: string
  readonly files: ProjectFiles
  readonly host: CompilerHost
  readonly only?: Language
}

/**
 * Analyzes a folder: its Compose files, marker files of languages, Dockerfiles, a chart or manifests. `diagnostics` are
 * about the Compose files.
 */
export async function analyze(
  workspace: Workspace,
  { folder, manifest, files, host, only }: AnalyzedProject,
): Promise<{ readonly analysis: Analysis; readonly diagnostics: readonly Diagnostic[] }> {
  const found = only === undefined ? await findCompose(workspace, manifest, folder) : undefined
  // A chart or manifests only count if the folder has no Compose file.
  const deployed = only === undefined && !found ? findDeployed(folder, files, host) : undefined
  const analysis = { ...(found && { compose: found.compose }), ...applicationsIn(folder, files, only, deployed) }
  return { analysis, diagnostics: found?.diagnostics ?? [] }
}

function applicationsIn(
  folder: string,
  files: ProjectFiles,
  only: Language | undefined,
  deployed: Analysis['deployed'],
): Omit<Analysis, 'compose'> {
  const name = toDnsLabel(fallbackName(folder)) || toDnsLabel(basename(folder)) || 'app'
  const found = foldersToLookAt(files, only).flatMap(inside => lookAt(inside, files, only) ?? [])
  return { name, applications: withNames(found, name, deployed), ...(deployed && { deployed }) }
}

function findDeployed(folder: string, files: ProjectFiles, host: CompilerHost): Analysis['deployed'] {
  const { manifest } = automaticManifest(folder, host) ?? {}
  const [step] = manifest?.deploy?.commands ?? []
  if (!manifest?.automatic || !step) return undefined
  const path = manifest.shown
  const workloads = manifest.automatic === 'manifests' ? findWorkloads(files, path) : []
  const images = [...step.command.matchAll(/--set ([\w-]+)\.image=/g)].map(([, key]) => key!)
  return { by: manifest.automatic, path, command: step.command, workloads, images }
}

/** Folders in which repositories with several applications usually keep the applications. */
const ABOVE_APPLICATIONS = ['', 'apps/', 'services/', 'packages/', 'src/', 'cmd/']

/**
 * Returns the folders to analyze. If the project's folder contains an application, or if `only` is set, this is only
 * the project's folder; otherwise the folders below it with an application or a Dockerfile. If no application is found,
 * returns the project's folder and all folders below it that may contain one.
 */
function foldersToLookAt(files: ProjectFiles, only: Language | undefined): readonly string[] {
  if (only !== undefined || recognise(files)) return ['.']
  const below = ABOVE_APPLICATIONS.flatMap(above =>
    files
      .names(above || '.')
      .filter(name => /^\w[\w. -]*\/$/.test(name) && name !== 'node_modules/')
      .map(name => above + name.slice(0, -1)),
  )
  const isRecognised = (folder: string) => recognise(files.below(folder)) !== undefined
  if (!below.some(isRecognised)) return ['.', ...below]
  // Next to applications, a folder with a Dockerfile is another application.
  return below.filter(folder => isRecognised(folder) || findDockerfile(files.below(folder)))
}

type Unnamed = Omit<FoundApplication, 'name' | 'isDeployed'>

function lookAt(folder: string, files: ProjectFiles, only: Language | undefined): Unnamed | undefined {
  const inside = folder === '.' ? files : files.below(folder)
  const dockerfile = only === undefined ? findDockerfile(inside) : undefined
  const found = recognise(inside, only)
  if (!found && !dockerfile) return undefined
  const workdir = dockerfile?.workdir
  return {
    folder,
    ...(found && {
      application: {
        folder,
        ...found,
        ...portOf(found, dockerfile),
        workdir:
          workdir === undefined ? { value: '/app' } : { value: workdir, from: `\`WORKDIR\` in ${dockerfile?.path}` },
      },
    }),
    ...(dockerfile && { dockerfile }),
  }
}

const portOf = ({ port }: Pick<ProjectApplication, 'port'>, dockerfile: FoundDockerfile | undefined) =>
  port || dockerfile?.port === undefined
    ? {}
    : { port: { value: dockerfile.port, from: `\`EXPOSE\` in ${dockerfile.path}` } }

/**
 * Names applications after the workloads that deploy them, which are found by name or by image. For a chart, and
 * without a workload of its own, an application is named after its folder; an application in the project's own folder
 * is named after the project. If several applications would get the same name from their folders, each is named after
 * the full path of its folder.
 */
function withNames(
  found: readonly Unnamed[],
  project: string,
  deployed: Analysis['deployed'],
): readonly FoundApplication[] {
  const ofWorkloads = workloadNames(found, project, deployed?.workloads ?? [])
  const wanted = found.map(one => ofWorkloads.get(one) ?? ownName(one, project))
  const isUsedTwice = (name: string) => wanted.indexOf(name) !== wanted.lastIndexOf(name)
  const keepsName = (one: Unnamed, index: number) => ofWorkloads.has(one) || !isUsedTwice(wanted[index]!)
  const taken = new Set(wanted.filter((_, index) => keepsName(found[index]!, index)))
  return found.map((one, index) => {
    const name = keepsName(one, index) ? wanted[index]! : freeLabel(one.folder === '.' ? project : one.folder, taken)
    taken.add(name)
    return { ...one, name, isDeployed: deployed?.by === 'chart' || ofWorkloads.has(one) }
  })
}

const ownName = ({ folder }: Unnamed, project: string): string =>
  folder === '.' ? project : toDnsLabel(basename(folder)) || project

/**
 * Returns the names of workloads, by the application that each of them deploys. If a workload fits several
 * applications, it belongs to the application with the workload's name or, if there is none, to the first one.
 */
function workloadNames(
  found: readonly Unnamed[],
  project: string,
  workloads: readonly FoundWorkload[],
): ReadonlyMap<Unnamed, string> {
  const names = new Map<string, Unnamed>()
  const hasItsName = (one: Unnamed) => workloads.some(({ name }) => name === ownName(one, project))
  for (const one of [...found.filter(hasItsName), ...found.filter(one => !hasItsName(one))]) {
    const name = workloadOf(one, ownName(one, project), workloads)?.name
    if (name !== undefined && !names.has(name)) names.set(name, one)
  }
  return new Map([...names].map(([name, one]) => [one, name]))
}

function workloadOf({ folder }: Unnamed, own: string, workloads: readonly FoundWorkload[]): FoundWorkload | undefined {
  const imageName = ({ image = '' }: FoundWorkload) => image.split('/').at(-1)!.split(/[:@]/)[0]
  return (
    workloads.find(({ name }) => name === own) ??
    workloads.find(one => imageName(one) === own) ??
    (folder === '.' && workloads.length === 1 ? workloads[0] : undefined)
  )
}

/** Returns the DNS label closest to a text, with a number if the label is taken. */
function freeLabel(text: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const label = toDnsLabel(number === 1 ? text : `${text}-${number}`)
    if (!taken.has(label)) return label
  }
}
