import type { HookForge } from './webhook-signature.ts'

/** The greatest number of a request that can be in the name of a preview. */
const GREATEST = 999_999

/**
 * What a delivery says: look again at a request. Nothing else of it is used: what the request is at, the API of
 * the forge says. `other`: an event that is about no request.
 */
export type ReadHook =
  | { readonly kind: 'pull'; readonly number: number; readonly repository: string }
  | { readonly kind: 'other' }
  | { readonly kind: 'invalid'; readonly problem: string }

/** Reads the body of a delivery whose signature is right. */
export function readHook(forge: HookForge, body: Uint8Array): ReadHook {
  const found = parse(body)
  if (!found) return { kind: 'invalid', problem: 'the body is no JSON object; the content type is `application/json`' }
  const [pull, repository] =
    forge === 'gitlab'
      ? [found['object_kind'] === 'merge_request' ? record(found['object_attributes'])?.['iid'] : undefined, 'project']
      : [record(found['pull_request'])?.['number'], 'repository']
  // Comments, pushes, and the one that is sent to try the address.
  if (pull === undefined) return { kind: 'other' }
  if (!isNumber(pull) || pull > GREATEST) return { kind: 'invalid', problem: 'the number of the request is none' }
  const id = record(found[repository])?.['id']
  if (!isNumber(id)) return { kind: 'invalid', problem: 'it does not say by number of which repository it is' }
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
