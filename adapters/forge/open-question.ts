import type { ForgeKind } from '../../compiler/values/repository-names.ts'
import { FORGES } from './forges.ts'

/**
 * Returns the API address that a forge of this kind answers without a token, even if only with a refusal. `web` is the
 * root of its web pages, `api` the root of its API if it differs from the default.
 */
export function openQuestion(kind: ForgeKind, web: string, api?: string): URL {
  const { apiOf, question } = FORGES[kind]
  const path = question?.path ?? '/'
  return new URL(`${(api ?? apiOf(web)).replace(/\/$/, '')}${path.slice(path.lastIndexOf('/'))}`)
}
