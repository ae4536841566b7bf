import type { ImageReference } from '../../compiler/values/images/image-reference.ts'
import { registryOf, repositoryOf } from './registry.ts'

/** The address of a repository in a registry. */
export interface ImageRepository {
  /** Name of the registry under which its credentials are kept: `docker.io`. */
  readonly registry: string
  /** Host to connect to, with its port: `registry-1.docker.io`. */
  readonly host: string
  readonly repository: string
  /** Requested access; if absent, read access. */
  readonly access?: 'push'
}

/** The address of the manifest of a tag. */
export interface ManifestAddress extends ImageRepository {
  readonly tag: string
}

/** Returns the address of a reference, with the tag `latest` if it has none. */
export function manifestAddressOf({ name, tag }: ImageReference): ManifestAddress {
  const registry = registryOf(name)
  return {
    registry,
    host: registry === 'docker.io' ? 'registry-1.docker.io' : registry,
    repository: repositoryOf(name),
    tag: tag ?? 'latest',
  }
}
