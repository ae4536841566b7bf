import { createHash } from 'node:crypto'
import type { EnvPlan } from '../../compiler/plan/plan.ts'
import type { ContainerSettings } from './settings.ts'

/** Variables whose values are stored in the Secret of the session, and the entries of the Secret with these values. */
export interface VariablesApart {
  readonly env: readonly EnvPlan[]
  /** The entries of the Secret's data with the values, in base64. */
  readonly data: Readonly<Record<string, string>>
  /** Hash of the values, which changes with each value; undefined if there are no variables. */
  readonly hash?: string
}

/**
 * Moves the values of a development container's variables into a Secret. The values come from env files, from this
 * machine and from `--env`, and more users may read a workload than a Secret. `index` distinguishes the containers of a
 * session in the keys of the Secret.
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

/** True for a name that can be part of a Secret key. */
const isKey = (name: string): boolean => /^[-._a-zA-Z0-9]{1,200}$/.test(name)

/** Returns a hash of texts in their order, as 16 hexadecimal digits. */
export function hashOf(texts: readonly string[]): string {
  const hash = createHash('sha256')
  for (const text of texts) hash.update(`${text.length} `).update(text)
  return hash.digest('hex').slice(0, 16)
}
