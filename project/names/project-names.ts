import type { Compilation } from '../../compiler/index.ts'
import type { DevctlManifest, ManifestEnvironment } from '../../compiler/manifest/manifest.ts'
import type { PlanOptions } from '../../compiler/options.ts'
import type { SecretPlaces } from '../../compiler/text/secret-places.ts'
import type { At } from '../../compiler/text/source.ts'
import { namesOfHost, namesOfImage, namesOfPath } from '../../compiler/values/secrets/project-names.ts'
import type { LoadInput } from '../input.ts'
import type { Workspace } from '../workspace.ts'

/** Returns the names that are known before a file is read: the folder, and the requested environment. */
export const workspaceNames = ({ cwd, env }: Pick<Workspace, 'cwd' | 'env'>, loading: LoadInput): readonly string[] =>
  present([
    ...namesOfPath(cwd),
    ...namesOfPath(loading.projectDirectory ?? ''),
    ...(loading.file ?? []).flatMap(namesOfPath),
    loading.environment,
    env.COMPOSE_PROJECT_NAME,
  ])

/** Returns the names in a plan's options: environment, namespace, domain, registry and images. */
export const optionNames = (options: PlanOptions): readonly string[] =>
  present([
    options.name,
    options.fallbackName,
    options.namespace,
    ...namesOfHost(options.domain ?? ''),
    ...namesOfImage(options.registry ?? ''),
    ...[...(options.images?.values() ?? [])].flatMap(namesOfImage),
    options.ingressClass,
    options.tlsSecret,
    ...namesOfPath(options.gateway ?? ''),
  ])

/**
 * Returns possible names of objects, hosts and images: each combines a part of the project, such as a service or a
 * volume, with the name of the project, the environment or the namespace.
 */
export function combinedNames({ project, plan }: Compilation, { name, namespace }: PlanOptions): readonly string[] {
  if (!project) return []
  const around = new Set(present([project.name, name, namespace, plan?.environment.name, plan?.environment.namespace]))
  const parts = [
    ...project.services.keys(),
    ...project.volumes.keys(),
    ...project.configs.keys(),
    ...project.secrets.keys(),
  ]
  return [...around].flatMap(one => parts.flatMap(part => [`${one}-${part}`, `${part}-${one}`]))
}

/** Returns the names in a manifest, except values derived from secrets. */
export function manifestNames(manifest: DevctlManifest, secrets: SecretPlaces | undefined): readonly string[] {
  const environments = [...manifest.environments.values()]
  const written = [manifest, ...environments].flatMap(settingsOf)
  const open = written.filter(({ span }) => !secrets?.at(span)).map(({ value }) => value)
  return [
    ...manifest.environments.keys(),
    ...manifest.build.keys(),
    ...manifest.dev.keys(),
    ...manifest.dependencies.map(({ name }) => name),
    ...namesOfPath(manifest.folder),
    ...open.flatMap(one => [...namesOfImage(one), ...namesOfHost(one)]),
  ]
}

const settingsOf = ({
  name,
  namespace,
  context,
  domain,
  registry,
}: DevctlManifest | ManifestEnvironment): readonly At<string>[] => present([name, namespace, context, domain, registry])

const present = <T>(all: readonly (T | undefined)[]): readonly T[] => all.filter(one => one !== undefined)
