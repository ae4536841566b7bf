import type { KubeObject } from './cluster.ts'

/** A check that returns true if a parsed response has the form that the API specifies for a request. */
export type Promised<T> = (value: unknown) => value is T

/** A page of a list, as the API server sends it. */
export interface Page {
  readonly metadata: { readonly continue?: string; readonly resourceVersion: string }
  readonly items: readonly Omit<KubeObject, 'apiVersion' | 'kind'>[] | null
}

/** The API server's list of the kinds of a group and version. */
export interface ResourceList {
  readonly resources: readonly {
    readonly name: string
    readonly kind: string
    readonly namespaced: boolean
    readonly verbs?: readonly string[]
  }[]
}

/** The API server's list of its groups. */
export interface GroupList {
  readonly groups: readonly { readonly preferredVersion: { readonly groupVersion: string } }[]
}

/** An event of a watch; a bookmark contains only a version, and an error contains a Status. */
export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  readonly object: KubeObject
}

/**
 * Returns true for one complete object. A name is not required for a review, because a review is a response that is not
 * stored.
 */
export const isObject = (value: unknown): value is KubeObject =>
  (isItem(value) || (isRecord(value) && /Review$/.test(String(value['kind'])) && isRecord(value['metadata']))) &&
  typeof value['apiVersion'] === 'string' &&
  typeof value['kind'] === 'string'

/** Returns true for the response to a deletion: the object, or a Status. */
export const isDeleted = (value: unknown): value is object => isRecord(value) && typeof value['kind'] === 'string'

/** Returns true for a page of a list, with the metadata of the list and only valid items. */
export const isPage = (value: unknown): value is Page =>
  isRecord(value) &&
  isRecord(value['metadata']) &&
  (value['items'] === null || (Array.isArray(value['items']) && value['items'].every(isItem)))

/** Returns true for a list of kinds. */
export const isResourceList = (value: unknown): value is ResourceList =>
  isRecord(value) &&
  Array.isArray(value['resources']) &&
  value['resources'].every(one => isRecord(one) && typeof one['name'] === 'string' && typeof one['kind'] === 'string')

/** Returns true for a list of groups. */
export const isGroupList = (value: unknown): value is GroupList =>
  isRecord(value) &&
  Array.isArray(value['groups']) &&
  value['groups'].every(
    one =>
      isRecord(one) && isRecord(one['preferredVersion']) && typeof one['preferredVersion']['groupVersion'] === 'string',
  )

/** Returns true for a watch event. An event about an object must contain the object. */
export function isWatchEvent(value: unknown): value is WatchEvent {
  if (!isRecord(value)) return false
  const { type, object } = value
  if (type === 'ERROR') return true
  if (type === 'BOOKMARK') return isRecord(object) && isRecord(object['metadata'])
  return (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') && isItem(object)
}

/** Parses a response as JSON. Returns undefined for any other text; all checks in this module reject undefined. */
export function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Describes an unexpected response in a few words. Does not show its content, which could be part of a Secret. */
export function describeAnswer(text: string): string {
  const start = text.trimStart()
  if (start === '') return 'nothing'
  if (start.startsWith('<')) return 'a web page'
  try {
    const value: unknown = JSON.parse(text)
    if (Array.isArray(value)) return 'a list'
    return isRecord(value) ? 'JSON with parts missing' : `\`${start.slice(0, 20)}\``
  } catch {
    return /^[[{]/.test(start) ? 'truncated JSON' : 'text that is not JSON'
  }
}

/** Returns true for an item of a list: an object with a name. Items of a list do not contain their kind. */
const isItem = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isRecord(value) && isRecord(value['metadata']) && typeof value['metadata']['name'] === 'string'

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
