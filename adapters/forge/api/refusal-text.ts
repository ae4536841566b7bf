import { parseJson } from '../../json/parse-json.ts'
import { forgeRefusal } from './answers.validators.ts'

/**
 * Returns the error message in a response: `message` as string, list or object of lists (GitLab), `errors` as list of
 * strings (Gitea) or of objects (GitHub), `error` and `error_description` (OAuth). Empty if the response is not JSON,
 * such as the web page of a proxy. Safe to print on a terminal.
 */
export function refusalText(text: string, secret: string): string {
  const answer = parseJson(text, forgeRefusal)
  if (!answer.ok) return ''
  const { message, errors, error, error_description: description } = answer.value
  const details = [...textsOf(errors), ...textsOf(description)]
  // "Validation Failed" adds nothing to its details.
  const said = [
    ...(details.length > 0 && /^validation failed$/i.test(String(message)) ? [] : textsOf(message)),
    ...details,
  ]
  const all = said.length > 0 ? said : textsOf(error)
  const clean = [...new Set(all)]
    .join('; ')
    .replaceAll(secret, '***')
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
  return (clean.length > 300 ? `${clean.slice(0, 299)}…` : clean).replace(/\.$/, '')
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.trim() === '' ? [] : [value]
  if (Array.isArray(value)) return value.flatMap(textsOf)
  if (!isRecord(value)) return []
  // An error object of GitHub:
  // https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api#validation-failed
  if (typeof value.message === 'string') return [value.message]
  if (typeof value.code === 'string') return [[value.field, value.code].filter(Boolean).join(' ').replaceAll('_', ' ')]
  return Object.entries(value).flatMap(([field, inner]) =>
    textsOf(inner).map(text => (field === 'base' ? text : `${field} ${text}`)),
  )
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
