/**
 * Normalizes a project name as Docker Compose does: lower-case letters, digits, `-` and `_`, with a
 * letter or digit first.
 */
export function normalizeProjectName(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]/g, '')
    .replace(/^[_-]+/, '')
}
