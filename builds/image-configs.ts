import { type FetchedConfig, fetchImageConfigs } from '../adapters/registry/image-configs.ts'
import { registryOf } from '../adapters/registry/registry.ts'
import { describeProblem } from '../adapters/registry/registry-problem.ts'
import type { RegistrySessionOptions } from '../adapters/registry/registry-session.ts'
import type { Project } from '../compiler/compose/project.ts'
import type { ImageConfig } from '../compiler/values/images/image-config.ts'

/** The known configurations of images, by service. */
export interface KnownImages {
  readonly configs: ReadonlyMap<string, ImageConfig>
  /** A sentence for each image that was built and whose configuration is not known, by service. */
  readonly notes: ReadonlyMap<string, string>
}

/** Images whose configurations are wanted, by service. */
export interface WantedImages {
  /** Images that were built or found, with their digests. */
  readonly built: ReadonlyMap<string, string>
  /** Other images in the same registries: see `plainImages`. */
  readonly plain: ReadonlyMap<string, string>
}

interface KnownOptions extends RegistrySessionOptions {
  /** Milliseconds for the configurations of plain images. */
  readonly limit?: number
}

const LIMIT = 5000

/**
 * Fetches the configurations of images. Waits only briefly for those of plain images, and does not report the ones that
 * stay unknown. Throws the reason of the signal, and a UserError for a Docker configuration that cannot be read.
 */
export async function knownImages(
  { built, plain }: WantedImages,
  { limit = LIMIT, ...options }: KnownOptions,
): Promise<KnownImages> {
  const [ofBuilt, ofPlain] = await Promise.all([
    fetchImageConfigs([...built.values()], options),
    plain.size > 0 ? fetchQuickly([...plain.values()], limit, options) : new Map<string, FetchedConfig>(),
  ])
  const configs = new Map<string, ImageConfig>()
  const notes = new Map<string, string>()
  for (const [service, reference] of [...plain, ...built]) {
    const found = ofBuilt.get(reference) ?? ofPlain.get(reference)
    if (found && 'config' in found) configs.set(service, found.config)
    else if (found && built.has(service))
      notes.set(
        service,
        `the ports, user and healthcheck of the image of \`${service}\` are not known: ${describeProblem(reference, found.problem).message}`,
      )
  }
  return { configs, notes }
}

async function fetchQuickly(
  references: readonly string[],
  milliseconds: number,
  options: RegistrySessionOptions,
): Promise<ReadonlyMap<string, FetchedConfig>> {
  const limit = AbortSignal.timeout(milliseconds)
  const signal = AbortSignal.any([options.signal, limit])
  try {
    return await fetchImageConfigs(references, { ...options, signal })
  } catch (error) {
    options.signal.throwIfAborted()
    if (!limit.aborted) throw error
    return new Map()
  }
}

/**
 * The images of services without `build` in the registries of those with it, which are asked in any
 * case. Others are not asked: a registry may be unreachable from here, and manifests would change
 * with its answers. Neither is Docker Hub, which counts these requests as pulls. The result is the
 * same for a part of the project.
 */
export function plainImages(
  { services }: Project,
  images: ReadonlyMap<string, string>,
  built: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const registries = new Set(
    [...images].flatMap(([service, image]) => (services.get(service)?.build ? [registryOf(image)] : [])),
  )
  registries.delete('docker.io')
  return new Map([...images].filter(([service, image]) => !built.has(service) && registries.has(registryOf(image))))
}
