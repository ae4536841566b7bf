import { dockerfileStages, readDockerfile } from '../compiler/values/dockerfile/dockerfile.ts'
import type { ProjectFiles } from './project-files.ts'

/** Facts from a Dockerfile about its image. */
export interface FoundDockerfile {
  /** Path relative to the searched folder. */
  readonly path: string
  readonly stages: readonly string[]
  /** Name of the stage for development. */
  readonly target?: string
  readonly workdir?: string
  readonly port?: number
  readonly user?: string
  readonly command?: readonly string[]
}

/**
 * Finds the Dockerfile of a folder: `Dockerfile` if it exists, otherwise the first of `Dockerfile.*` and
 * `*.dockerfile`.
 */
export function findDockerfile(files: ProjectFiles): FoundDockerfile | undefined {
  const names = files.names().filter(name => /^Dockerfile(?:\.[\w-]+)?$|\.dockerfile$/i.test(name))
  const path = names.find(name => name === 'Dockerfile') ?? names[0]
  const text = path === undefined ? undefined : files.text(path)
  if (path === undefined || text === undefined) return undefined
  const stages = dockerfileStages(text) ?? []
  const target = stages.find(stage => /^dev(?:el|elop|elopment)?$/i.test(stage))
  const { workdir, exposed, user, entrypoint = [], cmd = [] } = readDockerfile(text, target, new Map())
  const command = [...entrypoint, ...cmd]
  const port = exposed.find(({ protocol }) => protocol === 'tcp')?.port
  return {
    path,
    stages,
    ...(target !== undefined && { target }),
    // `sync` cannot express a folder with a colon or a variable.
    ...(workdir !== undefined && /^\/[\w./ -]*[\w-]$/.test(workdir) && { workdir }),
    ...(port !== undefined && { port }),
    ...(user !== undefined && { user }),
    ...(command.length > 0 && !command.some(word => word.includes('$')) && { command }),
  }
}
