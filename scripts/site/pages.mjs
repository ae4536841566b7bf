// The pages of the site and their order. docs/README.md is the one table of contents: its sections are those of the
// navigation.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'

export const root = join(import.meta.dirname, '../..')

/** Pages of the site that are not in docs/. */
const OTHERS = ['CHANGELOG.md', 'SECURITY.md', 'examples/README.md', 'examples/gitops/README.md']

/** Returns the Markdown files of the site, by path from the root of the repository, with their text. */
export function readPages() {
  const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md'))
    .map(name => `docs/${name.replaceAll('\\', '/')}`)
    .sort()
  return new Map([...docs, ...OTHERS].map(path => [path, readFileSync(join(root, path), 'utf8')]))
}

/** Returns the address of a page in the site, from its root: `install.html` for docs/install.md. */
export function addressOf(path) {
  const inside = path.startsWith('docs/') ? path.slice('docs/'.length) : path
  return inside.replace(/(^|\/)README\.md$/, '$1index.md').replace(/\.md$/, '.html')
}

/** Returns the title of a page: its first heading, without formatting. */
export function titleOf(text) {
  return (/^# (.+)$/m.exec(text)?.[1] ?? 'devctl').replaceAll('`', '')
}

/**
 * Returns the sections of the navigation, read from docs/README.md: `{ title, links: [{ path, title, isBelow }] }`,
 * with paths from the root of the repository. `isBelow` is set for the pages of a nested list, which belong to the page
 * above. Skips links to other sites, and to files that are not pages.
 */
export function readNavigation(pages) {
  const sections = []
  for (const line of pages.get('docs/README.md').split('\n')) {
    const [, section] = /^## (.+)$/.exec(line) ?? []
    if (section !== undefined) sections.push({ title: section, links: [] })
    const [, indent, title, target] = /^( *)- \[([^\]]+)\]\(([^)#]+)\)/.exec(line) ?? []
    const path = target && posix.normalize(posix.join('docs', target))
    if (path && pages.has(path))
      sections.at(-1).links.push({ path, title: title.replaceAll('`', ''), isBelow: indent !== '' })
  }
  return sections.filter(({ links }) => links.length > 0)
}

/** Returns the path of a link's target from the root of the repository, and its anchor. */
export function targetOf(from, link) {
  const [path, anchor = ''] = link.split('#')
  return { path: path === '' ? from : posix.normalize(posix.join(dirname(from), path)), anchor }
}
