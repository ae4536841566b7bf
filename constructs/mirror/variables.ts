import { createHash } from 'node:crypto'
import type { EnvPlan } from '../../compiler/plan/plan.ts'
import type { ContainerSettings } from './settings.ts'

/** Variables whose values are in the Secret of the session, under keys of their own. */
export interface VariablesApart {
  readonly env: readonly EnvPlan[]
  /** The part of the Secret's data that holds the values, in base64. */
  readonly data: Readonly<Record<string, string>>
  /** Hash of the values, which changes with each of them; undefined without variables. */
  readonly hash?: string
}

/**
 * Puts the values of a development container's variables into a Secret: they come from env files, from this machine
 * and from `--env`, and more people may read a workload than a Secret. `index` tells apart the containers of a session.
 */
export function variablesApart(
  secret: string,
  { environment }: Pick<ContainerSettings, 'environment'>,
  index: number,
): VariablesApart {
  const data: Record<string, string> = {}
  const env = environment.map(({ name, value }) => {
    const key = `variable-${index}-${isKey(name) ? name : hashOf([name])}`
    data[key] = Buffer.from(value).toString('base64')
    return { name, secret: { name: secret, key } }
  })
  return { env, data, ...(env.length > 0 && { hash: hashOf(Object.entries(data).flat()) }) }
}

/** True for a name that can be a part of a key of a Secret. */
const isKey = (name: string): boolean => /^[-._a-zA-Z0-9]{1,200}$/.test(name)

/** Returns a hash of texts in their order, as 16 hexadecimal digits. */
export function hashOf(texts: readonly string[]): string {
  const hash = createHash('sha256')
  for (const text of texts) hash.update(`${text.length} `).update(text)
  return hash.digest('hex').slice(0, 16)
}
