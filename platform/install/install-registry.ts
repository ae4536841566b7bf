import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { registryHost } from './manifests/registry.ts'
import type { Installation } from './manifests/server.ts'

/** What an operator says about the registry of the images that people build; what is left out stays as it is. */
export interface RegistryInput {
  /** `-`: none any more. */
  readonly registry: string | undefined
  /** It believes tokens of the platform. */
  readonly registryTokens: boolean
  /** The platform brings one. */
  readonly bundledRegistry: boolean
  /** Of its disk. */
  readonly registrySize: string | undefined
}

/** Where the platform is, and where the images of its parts are. */
export interface RegistryPlace {
  readonly domain: string
  /** The image of the registry. */
  readonly image: string
}

type Settings = Readonly<Record<string, unknown>>
type Wanted = Pick<Installation, 'registry' | 'hasRegistryTokens' | 'bundledRegistry'>

const SIZE = '50Gi'

/** The registry as it is to be, and the other settings that are kept. Throws a UsageError for what does not go together. */
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
  // Another registry has its own ways, until somebody says what it believes.
  const isSame = name === before
  return { kept, registry: name, hasRegistryTokens: registryTokens || (isSame && hadTokens === true) }
}

/** The size of a claim cannot be changed by applying it again. */
function bundled(wanted: string | undefined, found: unknown, { domain, image }: RegistryPlace): Wanted {
  const before = (found as { readonly size?: unknown } | undefined)?.size
  if (wanted !== undefined && typeof before === 'string' && before !== wanted)
    throw new UsageError(`the disk of the registry has ${before}`, {
      hint: 'change the claim `data-registry-0` of `devctl-platform` itself, if its storage class allows it',
    })
  const size = typeof before === 'string' ? before : (wanted ?? SIZE)
  return { registry: registryHost(domain), hasRegistryTokens: true, bundledRegistry: { image, size } }
}
