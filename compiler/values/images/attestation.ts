import { csvFields } from '../csv-fields.ts'
import { failed, type Parsed, parsed } from '../parsed.ts'

/** Values that Go parses as a boolean; Docker accepts each of them. */
const YES = new Set(['1', 't', 'T', 'true', 'TRUE', 'True'])
const NO = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False'])

/**
 * Parses `provenance` or `sbom`. Returns the parameters of the attestation (`mode=max`), an empty text for the
 * defaults, or false for no attestation (https://docs.docker.com/build/metadata/attestations/).
 */
export function parseAttestation(text: string, example: string): Parsed<string | false> {
  if (YES.has(text)) return parsed('')
  if (NO.has(text)) return parsed(false)
  const fields = csvFields(text)
  if (!fields || fields.some(field => field.indexOf('=') < 1))
    return failed('it is neither a boolean nor a list of parameters', `write \`true\`, \`false\` or \`${example}\``)
  const [disabled] = fields.flatMap(field => (field.startsWith('disabled=') ? [field.slice('disabled='.length)] : []))
  if (disabled !== undefined && YES.has(disabled)) return parsed(false)
  return parsed(text)
}
