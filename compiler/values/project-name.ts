/**
 * Normalizes a project name like Docker Compose: to lower-case letters, digits, `-` and `_`, starting with a letter or
 * digit.
 */
export function normalizeProjectName(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]/g, '')
    .replace(/^[_-]+/, '')
}
