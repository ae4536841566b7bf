import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import type { Installation } from '../../platform/install/server.ts'

/** What an operator says about the registry of the images that people build; what is left out stays as it is. */
export interface RegistryInput {
  /** `-`: none any more. */
  readonly registry: string | undefined
  /** It believes tokens of the platform. */
  readonly registryTokens: boolean
}

type Settings = Readonly<Record<string, unknown>>

/** The registry as it is to be, and the other settings that are kept. Throws a UsageError for tokens without a registry. */
export function wantedRegistry(
  { registry, registryTokens }: RegistryInput,
  settings: Settings,
): Pick<Installation, 'registry' | 'hasRegistryTokens'> & { readonly kept: Settings } {
  const { registry: before, registryTokens: hadTokens, ...kept } = settings
  const name = registry ?? before
  if (typeof name !== 'string' || name === '-') {
    if (registryTokens) throw new UsageError('`--registry-tokens` needs a registry', { hint: 'add `--registry HOST`' })
    return { kept }
  }
  // Another registry has its own ways, until somebody says what it believes.
  const isSame = name === before
  return { kept, registry: name, hasRegistryTokens: registryTokens || (isSame && hadTokens === true) }
}
