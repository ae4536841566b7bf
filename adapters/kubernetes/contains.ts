/**
 * Returns true if an object contains all fields of another object; ignores fields that the server adds. Lists must have
 * the same length, and are compared item by item.
 */
export function contains(whole: unknown, part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return whole === part
  if (typeof whole !== 'object' || whole === null || Array.isArray(whole) !== Array.isArray(part)) return false
  if (Array.isArray(part) && Array.isArray(whole) && part.length !== whole.length) return false
  const fields = new Map<string, unknown>(Object.entries(whole))
  return Object.entries(part).every(([key, value]) => value === undefined || contains(fields.get(key), value))
}
