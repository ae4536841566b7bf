import type { Pair, SecretVariable, Service } from '../../compose/project.ts'
import { usedEntries } from '../../compose/used-entries.ts'
import type { SecretSource } from '../../options.ts'
import type { Span } from '../../text/source.ts'
import type { PlanContext } from '../context.ts'
import type { ConfigKey, SecretKey } from '../plan.ts'

/** A value that comes from a Secret, according to the environment's rules. */
export interface Sourced {
  /** Path of the value, such as `services.db.environment.POSTGRES_PASSWORD` or `secrets.token`. */
  readonly path: string
  readonly source: SecretSource
  /** The value in the files, if they have one. */
  readonly value?: Uint8Array
  /** True if the Compose file declares the value as external (`external: true`). */
  readonly isExternal?: boolean
}

/** Returns the path of a service's variable, as used in messages and in the manifest. */
export const variablePath = (service: string, name: string): string => `services.${service}.environment.${name}`

/** Returns the Secret key that holds the value at a path; undefined if no rule exists for it. */
export function secretSource({ options }: Pick<PlanContext, 'options'>, path: string): SecretKey | undefined {
  const source = options.secretRules?.values.get(path)
  return source && { name: source.secret.value, key: source.key.value }
}

/** True if the environment lists a value as public: the value looks like a secret but is not. */
export const isPublic = ({ options }: Pick<PlanContext, 'options'>, path: string): boolean =>
  options.secretRules?.public.some(({ value }) => value === path) ?? false

/** A variable that gets its value from a Secret, used in place of a Pair. */
export interface SecretPair {
  readonly name: string
  readonly secret: SecretKey
  readonly span: Span
  readonly key?: Pair['key']
}

/** A variable that gets its value from a ConfigMap, used in place of a Pair. */
export interface ConfigPair {
  readonly name: string
  readonly config: ConfigKey
  readonly span: Span
  readonly key?: Pair['key']
}

/** Returns the variables of a service that get their values from Secrets. */
export function secretVariables(context: Pick<PlanContext, 'options'>, service: Service): readonly SecretPair[] {
  return service.secretEnvironment.flatMap(({ name, span }) => {
    const secret = secretSource(context, variablePath(service.name, name))
    return secret ? [{ name, span, secret }] : []
  })
}

/** Returns all values that come from Secrets and that the application uses, in the order of the rules. */
export function sourcedValues({ project, options }: Pick<PlanContext, 'project' | 'options'>): readonly Sourced[] {
  const values = new Map<string, Uint8Array | undefined>()
  for (const service of project.services.values()) {
    for (const variable of service.secretEnvironment)
      values.set(variablePath(service.name, variable.name), bytesOf(variable))
    for (const key of usedEntries(service, 'secrets')) values.set(`secrets.${key}`, project.secrets.get(key)?.content)
  }
  const external = new Set([...project.secrets.values()].flatMap(one => (one.external ? [`secrets.${one.key}`] : [])))
  return [...(options.secretRules?.values ?? [])].flatMap(([path, source]) => {
    if (!values.has(path)) return []
    const value = values.get(path)
    const isExternal = external.has(path)
    return [{ path, source, ...(value && { value }), ...(isExternal && { isExternal }) }]
  })
}

const bytesOf = ({ value }: SecretVariable): Uint8Array | undefined =>
  value === undefined ? undefined : new TextEncoder().encode(value)
