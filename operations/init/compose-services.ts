import { join, relative } from 'node:path'
import type { Service } from '../../compiler/compose/project.ts'
import { Reporter } from '../../compiler/diagnostics/reporter.ts'
import type { CompilerHost } from '../../compiler/host.ts'
import { builtImage } from '../../compiler/plan/pod/built-image.ts'
import { toDnsLabel } from '../../compiler/values/dns-name.ts'
import { candidatesOf } from '../develop/candidates.ts'
import { boundaryOf } from '../project/boundary.ts'
import { compileFiles } from '../project/compile-files.ts'
import { composeFileIn } from '../project/environment-name.ts'
import { createHost } from '../project/node-host.ts'
import type { Workspace } from '../workspace.ts'
import type { Guess } from './application.ts'

/** What a Compose file says about development. */
export interface FoundCompose {
  readonly file: string
  readonly services: readonly DevelopedService[]
  /** It cannot be compiled: there may be more services. */
  readonly hasErrors: boolean
}

/** A service that `up` can work on: its files are on this machine. */
export interface DevelopedService {
  readonly name: string
  /** As `LOCAL:REMOTE`, relative to the project's folder. */
  readonly folders: readonly string[]
  /** As `LOCAL:REMOTE`, of the ports that are published. */
  readonly ports: readonly string[]
  /** What it runs, where its Compose file or its Dockerfile says that. */
  readonly command?: Guess<readonly string[]>
}

/** Compiles the Compose file of a folder, and gives the services that `up` would work on; undefined if there is none. */
export async function findCompose(workspace: Workspace, folder: string): Promise<FoundCompose | undefined> {
  const file = composeFileIn(folder)
  if (file === undefined) return undefined
  const there = { ...workspace, cwd: folder }
  const loading = { file: [file] }
  const { project } = await compileFiles(there, [], loading)
  if (!project) return { file, services: [], hasErrors: true }
  const host = createHost({ env: workspace.env, boundary: boundaryOf(there, loading, { namesCompose: true }) })
  const services = candidatesOf(project, host).map(({ service, folders }) => ({
    name: toDnsLabel(service.name),
    folders: folders.map(({ local, remote, file = '' }) => `${relative(folder, join(local, file)) || '.'}:${remote}`),
    ports: publishedPorts(service),
    ...commandOf(service, host, folder),
  }))
  return { file, services, hasErrors: false }
}

function publishedPorts({ ports }: Service): readonly string[] {
  const published = ports.filter(({ protocol, published }) => protocol === 'TCP' && /^\d+$/.test(published ?? ''))
  return [...new Set(published.map(({ published, target }) => `${published}:${target}`))]
}

/** A command with a variable is left out: the manifest would replace it. */
function commandOf(service: Service, host: CompilerHost, folder: string): Pick<DevelopedService, 'command'> {
  const { entrypoint, command, build } = service
  const image = builtImage({ host, reporter: new Reporter() }, service)
  const first = entrypoint?.words ?? image?.entrypoint ?? []
  // An entrypoint of the Compose file is not followed by the image's command.
  const rest = command?.words ?? (entrypoint ? [] : (image?.cmd ?? []))
  const words = [...first, ...rest]
  if (words.length === 0 || words.some(word => word.includes('$'))) return {}
  if (!build || (command && (entrypoint || !image?.entrypoint))) return { command: { value: words } }
  const path = relative(folder, join(build.context.value, build.dockerfile?.value ?? 'Dockerfile'))
  return { command: { value: words, from: command || entrypoint ? `${path} and the Compose file` : path } }
}
