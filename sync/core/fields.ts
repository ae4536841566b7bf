import type { Frame } from '../protocol/frames.ts'

/**
 * Reads the fields of a header that the other side has written. Each function throws an Error if the field has another
 * type.
 */

export function text(header: Frame['header'], key: string): string {
  const value = header[key]
  if (typeof value !== 'string') throw new Error(`\`${key}\` of a message is not a text`)
  return value
}

export function number(header: Frame['header'], key: string): number {
  const value = header[key]
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new Error(`\`${key}\` of a message is not a number`)
  return value
}

/** Reads a number of bytes or items. */
export function count(header: Frame['header'], key: string): number {
  const value = number(header, key)
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`\`${key}\` of a message is out of range`)
  return value
}

export function list(header: Frame['header'], key: string): readonly unknown[] {
  const value = header[key]
  if (!Array.isArray(value)) throw new Error(`\`${key}\` of a message is not a list`)
  return value
}

export function object(value: unknown): Frame['header'] {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('a part of a message is not an object')
  return value as Frame['header']
}
