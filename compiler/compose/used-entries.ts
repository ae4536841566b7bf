import type { Service } from './project.ts'

/** Returns the keys of the top-level `configs` or `secrets` that a service uses, as files or as variables. */
export function usedEntries(service: Service, kind: 'configs' | 'secrets'): readonly string[] {
  const variables = kind === 'secrets' ? service.variablesFromSecrets : service.variablesFromConfigs
  return [...service[kind].map(({ source }) => source), ...variables.map(({ value }) => value)]
}
