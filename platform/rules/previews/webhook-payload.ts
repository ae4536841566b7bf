import type { HookForge } from './webhook-signature.ts'

/** Maximum request number that fits into the name of a preview. */
const GREATEST = 999_999

/**
 * The meaning of a delivery. `pull`: the pull request with this number has to be checked. Nothing else is read from the
 * delivery, because the API of the forge returns the current state. `other`: the event is not about a pull request.
 * `invalid`: the body is not in the format of the forge.
 */
export type ReadHook =
  | { readonly kind: 'pull'; readonly number: number; readonly repository: string }
  | { readonly kind: 'other' }
  | { readonly kind: 'invalid'; readonly problem: string }

/** Parses the body of a delivery with a valid signature. */
export function readHook(forge: HookForge, body: Uint8Array): ReadHook {
  const found = parse(body)
  if (!found)
    return { kind: 'invalid', problem: 'the body is not a JSON object; the content type is `application/json`' }
  const [pull, repository] =
    forge === 'gitlab'
      ? [found['object_kind'] === 'merge_request' ? record(found['object_attributes'])?.['iid'] : undefined, 'project']
      : [record(found['pull_request'])?.['number'], 'repository']
  // Comments, pushes, and test deliveries are not about a request.
  if (pull === undefined) return { kind: 'other' }
  if (!isNumber(pull) || pull > GREATEST) return { kind: 'invalid', problem: 'the request has no valid number' }
  const id = record(found[repository])?.['id']
  if (!isNumber(id)) return { kind: 'invalid', problem: 'it has no numeric id of the repository' }
  return { kind: 'pull', number: pull, repository: String(id) }
}

const isNumber = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0

type Fields = Readonly<Record<string, unknown>>

const record = (value: unknown): Fields | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined

function parse(body: Uint8Array): Fields | undefined {
  try {
    return record(JSON.parse(Buffer.from(body).toString('utf8')))
  } catch {
    return undefined
  }
}
