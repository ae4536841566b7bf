import type { Lookup } from '../../text/template.ts'
import { isVariableWithSecret } from '../../values/secret-names.ts'
import type { Variable } from './variables.ts'

const SECTIONS = new Set(['services', 'networks', 'volumes', 'configs', 'secrets'])
/** Keys that name files which are read. */
const FILES = new Set(['extends', 'env_file', 'label_file', 'file'])
/** Where the value of such a variable comes from. */
export const ASSUMED = 'an assumption'
/** Long enough to look like what it stands for. */
const SECRET = 'a-required-secret-value'

/**
 * What required variables that nothing sets are taken to hold at a path of a document, where the caller needs none of their values
 * (`LoadOptions.assumesRequired`); undefined where what the project is depends on the value.
 */
export function assumedValues([section = '', , key = '']: readonly string[]): Lookup | undefined {
  if (!SECTIONS.has(section) || FILES.has(key)) return undefined
  return section === 'services' && key === 'volumes' ? () => ({ value: '/1', origin: ASSUMED }) : assumedVariable
}

/** A number is right in most places but those of paths; a variable whose name says that it is secret gets what looks so. */
export function assumedVariable(name: string): Variable {
  const isSecret = isVariableWithSecret(name, SECRET)
  return { value: isSecret ? SECRET : '1', origin: ASSUMED, ...(isSecret && { isSecret: true }) }
}
