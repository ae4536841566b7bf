import { delimiter, dirname, resolve } from 'node:path'
import type { Compilation } from '../compiler/index.ts'
import type { LoadOptions, PlanOptions } from '../compiler/options.ts'
import { fallbackName, nearestProject } from './environment-name.ts'
import { UsageError } from './errors.ts'
import type { Io } from './io.ts'
import { createHost } from './node-host.ts'
import { dnsLabel, type LoadingValues, type PlanningValues } from './project-options.ts'

/** Compiles the files that the options of a command name, for the services that its words name. */
export async function compileFiles(
  io: Io,
  services: readonly string[],
  loading: LoadingValues,
  planning: Partial<PlanningValues> = {},
  extra: Partial<LoadOptions> = {},
): Promise<Compilation> {
  const [{ compile }, plan] = await Promise.all([import('../compiler/index.ts'), planOptions(io, loading, planning)])
  const compilation = compile(
    { ...(await loadOptions(io, services, loading, planning)), ...plan, ...extra },
    createHost({ env: io.env }),
  )
  refuseUnknownImages(planning.image, compilation)
  return compilation
}

/** The files that are named, by options or the shell. What an .env file may say about them changes no name. */
function namedFiles(io: Io, { file }: LoadingValues): readonly string[] {
  if (file) return file
  return io.env.COMPOSE_FILE ? io.env.COMPOSE_FILE.split(io.env.COMPOSE_PATH_SEPARATOR || delimiter) : []
}

function projectFolder(io: Io, loading: LoadingValues): string {
  if (loading.projectDirectory !== undefined) return resolve(io.cwd, loading.projectDirectory)
  const files = namedFiles(io, loading)
  const first = files.find(path => path !== '-')
  return first === undefined
    ? (files.length === 0 && nearestProject(io.cwd)) || io.cwd
    : dirname(resolve(io.cwd, first))
}

async function loadOptions(
  io: Io,
  services: readonly string[],
  loading: LoadingValues,
  { strict }: Partial<PlanningValues>,
): Promise<LoadOptions> {
  const { file, projectDirectory, envFile, profile } = loading
  return {
    workingDirectory: io.cwd,
    ...(file && { files: file }),
    ...(namedFiles(io, loading).includes('-') && { stdin: await io.readStdin() }),
    ...(projectDirectory !== undefined && { projectDirectory: resolve(io.cwd, projectDirectory) }),
    ...(envFile && { envFiles: envFile.map(path => resolve(io.cwd, path)) }),
    ...(profile && { profiles: profile }),
    ...(services.length > 0 && { services }),
    ...(strict && { strict }),
  }
}

async function planOptions(io: Io, loading: LoadingValues, values: Partial<PlanningValues>): Promise<PlanOptions> {
  const { name, domain, gateway, ingressClass, tlsSecret, policy, registry, tag, startOrder, includeSecrets } = values
  const namespace = values.namespace ?? namespaceOf(io)
  const routes = values.routes ?? (gateway === undefined ? undefined : 'gateway')
  if (routes === 'gateway' && gateway === undefined) {
    throw new UsageError('`--routes gateway` needs to know the Gateway', { hint: 'add `--gateway NAMESPACE/NAME`' })
  }
  if (routes !== 'gateway' && gateway !== undefined) {
    throw new UsageError('`--gateway` has no meaning for Ingresses', {
      hint: 'leave it out, or use `--routes gateway`',
    })
  }
  if (routes === 'gateway' && ingressClass !== undefined) {
    throw new UsageError('`--ingress-class` has no meaning for HTTPRoutes', {
      hint: 'leave it out: the Gateway has its own class',
    })
  }
  const images = values.imagesFile === undefined ? undefined : await imagesFrom(io, values.imagesFile)
  return {
    fallbackName: fallbackName(projectFolder(io, loading)),
    ...(name !== undefined && { name }),
    ...(namespace !== undefined && { namespace }),
    ...(domain !== undefined && { domain }),
    ...(routes !== undefined && { routes }),
    ...(gateway !== undefined && { gateway }),
    ...(ingressClass !== undefined && { ingressClass }),
    ...(tlsSecret !== undefined && { tlsSecret }),
    ...(policy !== undefined && { policy }),
    ...((images ?? values.image) && { images: new Map([...(images ?? []), ...(values.image ?? [])]) }),
    ...(registry !== undefined && { registry }),
    ...(tag !== undefined && { tag }),
    ...(startOrder !== undefined && { startOrder }),
    ...(includeSecrets && { includeSecrets }),
    ...(io.env.DEVCTL_COMPOSE_VOLUME_AFFINITY_ENABLED === 'false' && { volumeAffinity: false }),
  }
}

function namespaceOf({ env }: Io): string | undefined {
  const namespace = env.DEVCTL_NAMESPACE || undefined
  if (namespace !== undefined) dnsLabel(namespace, 'DEVCTL_NAMESPACE')
  return namespace
}

async function imagesFrom(io: Io, path: string): Promise<ReadonlyMap<string, string>> {
  const { readImagesFile } = await import('./images-file.ts')
  return readImagesFile(resolve(io.cwd, path), path)
}

/** `--image` for a service that the files do not have is a slip of the pen; in a file of images it is not, which may hold those of other applications. */
function refuseUnknownImages(images: ReadonlyMap<string, string> | undefined, { project }: Compilation): void {
  if (!project) return
  for (const service of images?.keys() ?? []) {
    if (project.services.has(service) || project.absentServices.has(service)) continue
    const names = [...project.services.keys()].map(name => `\`${name}\``).join(', ')
    throw new UsageError(`\`--image\` names a service \`${service}\`, which the files do not have`, {
      hint: `the services are ${names || 'none'}`,
    })
  }
}
