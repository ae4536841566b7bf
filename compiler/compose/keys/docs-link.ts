import { serviceFamilies } from './service.ts'

/**
 * Returns the link to the section of docs/ about a key of a Compose file. The parameter is the path of the key: for
 * `services`, `web`, `ports`, the link is `docs/compose/services.md#network`.
 */
export function docsLink([section, , key]: readonly string[]): string {
  if (['volumes', 'networks', 'secrets', 'configs'].includes(section!)) return `docs/compose/resources.md#${section}`
  const family = key !== undefined && Object.entries(serviceFamilies).find(([, keys]) => Object.hasOwn(keys, key))
  if (family) return `docs/compose/services.md#${anchorOf(family[0])}`
  if (section === 'services') return 'docs/compose/services.md'
  return `docs/compose.md#${section === 'jobs' ? 'jobs' : 'top-level'}`
}

/** Returns the anchor of a heading, as GitHub makes it. */
export const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-')
