import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { registryHost } from './manifests/registry.ts'
import type { Installation } from './manifests/server.ts'

/**
 * Options of the operator about the registry for images that users build; a missing option keeps the installed value.
 */
export interface RegistryInput {
  /** Host of the registry, perhaps with a path; `-` removes the setting. */
  readonly registry: string | undefined
  /** True if the registry accepts tokens of the platform. */
  readonly registryTokens: boolean
  /** True to install a registry with the platform. */
  readonly bundledRegistry: boolean
  /** Size of the registry's disk. */
  readonly registrySize: string | undefined
}

/** Domain of the platform, and the image for a bundled registry. */
export interface RegistryPlace {
  readonly domain: string
  /** The image of the registry. */
  readonly image: string
}

type Settings = Readonly<Record<string, unknown>>
type Wanted = Pick<Installation, 'registry' | 'hasRegistryTokens' | 'bundledRegistry'>

const SIZE = '50Gi'

/**
 * Returns the wanted registry, and the other settings, which are kept. Throws a UsageError for options that cannot be
 * combined.
 */
export function wantedRegistry(
  input: RegistryInput,
  settings: Settings,
  place: RegistryPlace,
): Wanted & { readonly kept: Settings } {
  const { registry: before, registryTokens: hadTokens, bundledRegistry: found, ...kept } = settings
  const { registry, registryTokens, bundledRegistry, registrySize } = input
  if (bundledRegistry && registry !== undefined)
    throw new UsageError('`--bundled-registry` and `--registry` cannot be combined', { hint: 'choose one of them' })
  if (bundledRegistry || (found !== undefined && registry === undefined))
    return { kept, ...bundled(registrySize, found, place) }
  if (registrySize !== undefined)
    throw new UsageError('`--registry-size` needs `--bundled-registry`', { hint: 'add it' })
  const name = registry ?? before
  if (typeof name !== 'string' || name === '-') {
    if (registryTokens) throw new UsageError('`--registry-tokens` needs a registry', { hint: 'add `--registry HOST`' })
    return { kept }
  }
  // A different registry may not accept tokens of the platform, so the option has to be repeated for it.
  const isSame = name === before
  return { kept, registry: name, hasRegistryTokens: registryTokens || (isSame && hadTokens === true) }
}

/**
 * Returns the settings of the bundled registry. Throws a UsageError for a different size: the size of a claim cannot be
 * changed by applying it again.
 */
function bundled(wanted: string | undefined, found: unknown, { domain, image }: RegistryPlace): Wanted {
  const before = (found as { readonly size?: unknown } | undefined)?.size
  if (wanted !== undefined && typeof before === 'string' && before !== wanted)
    throw new UsageError(`the disk of the registry has ${before}`, {
      hint: 'change the claim `data-registry-0` of `devctl-platform` itself, if its storage class allows it',
    })
  const size = typeof before === 'string' ? before : (wanted ?? SIZE)
  return { registry: registryHost(domain), hasRegistryTokens: true, bundledRegistry: { image, size } }
}
