import { fetchImageConfigs } from '../../adapters/registry/image-configs.ts'
import { describeProblem } from '../../adapters/registry/registry-problem.ts'
import type { RegistrySessionOptions } from '../../adapters/registry/registry-session.ts'
import type { ImageConfig } from '../../compiler/values/image-config.ts'

/** The known configurations of images, by service. */
export interface KnownImages {
  readonly configs: ReadonlyMap<string, ImageConfig>
  /** A sentence for each image whose configuration is not known. */
  readonly notes: readonly string[]
}

/**
 * Fetches the configurations of images, which are given by service. Throws the reason of the signal,
 * and a UserError for a Docker configuration that cannot be read.
 */
export async function knownImages(
  images: ReadonlyMap<string, string>,
  options: RegistrySessionOptions,
): Promise<KnownImages> {
  const fetched = await fetchImageConfigs([...images.values()], options)
  const configs = new Map<string, ImageConfig>()
  const notes: string[] = []
  for (const [service, reference] of images) {
    const found = fetched.get(reference)!
    if ('config' in found) configs.set(service, found.config)
    else
      notes.push(
        `the ports, user and healthcheck of the image of \`${service}\` are not known: ${describeProblem(reference, found.problem).message}`,
      )
  }
  return { configs, notes }
}
