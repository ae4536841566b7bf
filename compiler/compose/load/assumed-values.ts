import type { Lookup } from '../../text/template.ts'
import { isVariableWithSecret } from '../../values/secrets/secret-names.ts'
import { SECTIONS } from '../keys/sections.ts'
import { isServiceSection } from './service-sections.ts'
import type { Variable } from './variables.ts'

/** Keys that name files to read. */
const FILES = new Set(['extends', 'env_file', 'label_file', 'file'])
/** The origin of an assumed value. */
export const ASSUMED = 'an assumption'
/** Assumed value of a variable with a secret name, long enough to be recognized as a secret. */
const SECRET = 'a-required-secret-value'

/**
 * Returns a function that assumes values for required variables that are not set (`LoadOptions.assumesRequired`), in
 * the value at a path of a document. Returns undefined if the structure of the project depends on that value.
 */
export function assumedValues([section = '', , key = '']: readonly string[]): Lookup | undefined {
  if (!SECTIONS.has(section) || FILES.has(key)) return undefined
  return isServiceSection(section) && key === 'volumes' ? () => ({ value: '/1', origin: ASSUMED }) : assumedVariable
}

/**
 * Returns an assumed value for a variable: a number, which most keys accept, or text that looks secret if the name of
 * the variable looks secret.
 */
export function assumedVariable(name: string): Variable {
  const isSecret = isVariableWithSecret(name, SECRET)
  return { value: isSecret ? SECRET : '1', origin: ASSUMED, ...(isSecret && { isSecret: true }) }
}
