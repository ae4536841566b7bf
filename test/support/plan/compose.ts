import { posix } from 'node:path'
import { loadProject } from '../../../compiler/compose/load/load.ts'
import type { Project } from '../../../compiler/compose/project.ts'
import { readProject } from '../../../compiler/compose/read-project.ts'
import type { Diagnostic } from '../../../compiler/diagnostics/diagnostic.ts'
import { Reporter } from '../../../compiler/diagnostics/reporter.ts'
import type { CompilerHost, TrackedFile } from '../../../compiler/host.ts'
import type { PlanOptions } from '../../../compiler/options.ts'
import { planProject } from '../../../compiler/plan/index.ts'
import type { ContainerPlan, Plan, PodPlan, WorkloadPlan } from '../../../compiler/plan/plan.ts'

/** The plan of a Compose file, with the diagnostics of reading and planning. */
export interface Planned {
  readonly plan: Plan
  readonly project: Project
  readonly host: CompilerHost
  readonly diagnostics: readonly Diagnostic[]
  /** The codes of errors and warnings, in the order of the file. */
  readonly codes: readonly string[]
  /** `severity code: excerpt` of each diagnostic, with infos. */
  readonly lines: readonly string[]
  workload(name: string): WorkloadPlan
  pod(name: string): PodPlan
  /** The first container of a workload. */
  container(name: string): ContainerPlan
  /** The ports of a Service as `name port→target`. */
  ports(service: string): readonly string[]
}

/** Default options: one namespace and domain, with secrets. */
const usual: PlanOptions = {
  name: 'app',
  namespace: 'shop',
  domain: 'dev.example.com',
  registry: 'registry.example.com',
  includeSecrets: true,
}

/**
 * Plans the text of /project/compose.yaml. The paths of `files` are absolute or below /project; a
 * path that ends in `/` is an empty folder.
 */
export function planOf(
  text: string,
  options: PlanOptions = {},
  files: Readonly<Record<string, string>> = {},
  tracked?: readonly string[] | false,
): Planned {
  const host = memoryHost({ 'compose.yaml': text, ...files }, tracked)
  const reporter = new Reporter()
  const loaded = loadProject({ workingDirectory: '/project' }, host, reporter)
  if (!loaded) throw new Error(`not loaded: ${JSON.stringify(reporter.diagnostics().map(({ message }) => message))}`)
  const project = readProject(loaded, host, reporter)
  const plan = planProject(project, { ...usual, ...options }, host, reporter)
  const diagnostics = reporter.diagnostics()
  const workload = (name: string) => {
    const found = plan.workloads.find(one => one.name === name)
    if (!found) throw new Error(`no workload ${name} among ${plan.workloads.map(one => one.name)}`)
    return found
  }
  return {
    plan,
    project,
    host,
    diagnostics,
    codes: diagnostics.filter(({ severity }) => severity !== 'info').map(({ code }) => code),
    lines: diagnostics.map(({ severity, code, span }) => `${severity} ${code}: ${span ? excerpt(span) : ''}`),
    workload,
    pod: name => workload(name).pod,
    container: name => workload(name).pod.containers[0]!,
    ports: service =>
      plan.services
        .find(({ name }) => name === service)!
        .ports.map(({ name, port, targetPort }) => `${name} ${port}→${targetPort}`),
  }
}

const excerpt = (span: NonNullable<Diagnostic['span']>) => span.file.text.slice(span.start, span.end)

/**
 * A host with files in memory. Git tracks the files in /project, or those in `tracked`; with
 * `false` there is no checkout.
 */
export function memoryHost(
  files: Readonly<Record<string, string>>,
  tracked: readonly string[] | false = Object.keys(files).filter(name => !/^\/|^\.\.|\/$/.test(name)),
): CompilerHost {
  const texts = new Map<string, string>()
  const folders = new Set(['/', '/project'])
  for (const [name, text] of Object.entries(files)) {
    const path = posix.resolve('/project', name)
    if (name.endsWith('/')) folders.add(path)
    else texts.set(path, text)
    for (let at = posix.dirname(path); at !== '/'; at = posix.dirname(at)) folders.add(at)
  }
  return {
    readFile: path => {
      const text = texts.get(path)
      if (text === undefined) return folders.has(path) ? { kind: 'folder' } : { kind: 'missing' }
      return { kind: 'file', bytes: new TextEncoder().encode(text), executable: path.endsWith('.sh') }
    },
    readDirectory: path =>
      folders.has(path)
        ? [...texts.keys(), ...folders]
            .filter(one => posix.dirname(one) === path && one !== path)
            .map(one => ({ name: posix.basename(one), kind: texts.has(one) ? ('file' as const) : ('folder' as const) }))
            .sort((a, b) => (a.name < b.name ? -1 : 1))
        : undefined,
    stat: path => {
      const text = texts.get(path)
      if (text !== undefined) return { kind: path.endsWith('.pipe') ? 'other' : 'file', size: text.length }
      return folders.has(path) ? { kind: 'folder', size: 0 } : undefined
    },
    realPath: path => path,
    variable: () => undefined,
    environment: new Map(),
    hashBuild: () => 'abcdef0123456789abcdef',
    homeDirectory: '/home/user',
    checkout: folder =>
      tracked && posix.resolve('/', folder).startsWith('/project')
        ? { root: '/project', files: [...tracked].sort().map(toTracked) }
        : undefined,
  }
}

const toTracked = (path: string): TrackedFile => ({ path, kind: path.endsWith('.sh') ? 'executable' : 'file' })
