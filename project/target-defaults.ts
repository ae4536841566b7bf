import { dnsName, registryPath } from './checks.ts'
import type { Target } from './contexts/target.ts'
import type { OpenProject } from './opened-project.ts'
import type { Workspace } from './workspace.ts'

/** Domain of public routes and registry of images, which rarely change between deploys. */
export interface TargetDefaults {
  readonly domain?: string | undefined
  readonly registry?: string | undefined
}

/** Settings of a command, with the source of the registry as text. */
export interface ChosenTargetDefaults extends TargetDefaults {
  readonly registryFrom?: string
}

/**
 * Returns the domain and the registry of a deploy. Order of precedence: option, environment, top level of the manifest,
 * `DEVCTL_DOMAIN` and `DEVCTL_REGISTRY`, the context, the platform. The context, the platform and `DEVCTL_DOMAIN` are
 * only used by commands that connect to a cluster, because rendered or published files do not depend on one. Throws a
 * UsageError for an invalid value.
 */
export function chooseTargetDefaults(
  { env, platformImages }: Pick<Workspace, 'env' | 'platformImages'>,
  options: TargetDefaults,
  { environment, manifest }: OpenProject,
  { stored, context }: Pick<Target, 'stored' | 'context'>,
): ChosenTargetDefaults {
  const chosen = (key: keyof TargetDefaults, variable: string, check: (value: string, from: string) => void) => {
    const said = options[key] ?? environment?.[key]?.value ?? manifest?.[key]?.value
    if (said !== undefined) return said
    const value = env[variable] || stored[key]
    if (value !== undefined) check(value, env[variable] ? variable : `${key} of the context ${context}`)
    return value
  }
  const registry = chosen('registry', 'DEVCTL_REGISTRY', registryPath) ?? platformImages?.name
  const registryFrom = options.registry
    ? '`--registry`'
    : environment?.registry || manifest?.registry
      ? 'the manifest'
      : env.DEVCTL_REGISTRY
        ? '`DEVCTL_REGISTRY`'
        : stored.registry === undefined
          ? 'the platform'
          : `the context \`${context}\``
  return {
    domain: chosen('domain', 'DEVCTL_DOMAIN', dnsName),
    registry,
    ...(registry !== undefined && { registryFrom }),
  }
}

/** Returns the text that shows the chosen registry to users; undefined if there is none. */
export const registryText = ({ registry, registryFrom }: ChosenTargetDefaults): string | undefined =>
  registry === undefined ? undefined : `images are pushed to ${registry}, chosen by ${registryFrom}`
