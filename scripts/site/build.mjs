// Builds the documentation as a static site: `npm run site` writes it to dist/site. Every address is relative, so the
// folder can be served below any path.
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import MiniSearch from 'minisearch'
import { convert, escapeHtml } from './markdown.mjs'
import { addressOf, readNavigation, readPages, root, titleOf } from './pages.mjs'
import { SEARCH } from './search-options.mjs'

/** Writes the site to a folder. Throws for a link to a page or section that does not exist. */
export async function buildSite(outdir) {
  const repository =
    `${JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).homepage ?? 'https://github.com/devctl/devctl'}/blob/main`.replace(
      '#readme',
      '',
    )
  const pages = readPages()
  const navigation = readNavigation(pages)
  const template = readFileSync(join(import.meta.dirname, 'page.html'), 'utf8')
  const converted = new Map(
    [...pages].map(([path, text]) => [path, convert(path, text, { isPage: one => pages.has(one), repository })]),
  )
  refuseBrokenLinks(converted)
  rmSync(outdir, { recursive: true, force: true })
  const write = (address, text) => {
    mkdirSync(dirname(join(outdir, address)), { recursive: true })
    writeFileSync(join(outdir, address), text)
  }
  for (const [path, { html }] of converted) {
    const address = addressOf(path)
    const base = posix.relative(posix.dirname(address), '.') || '.'
    const values = {
      TITLE: escapeHtml(titleOf(pages.get(path))),
      BASE: base,
      NAVIGATION: navigationHtml(navigation, path, base),
      CONTENT: html,
    }
    write(
      address,
      template.replace(/%([A-Z]+)%/g, (_, name) => values[name]),
    )
  }
  const images = new Set([...converted.values()].flatMap(one => one.images))
  for (const image of images) {
    const target = join(outdir, image.replace(/^docs\//, ''))
    mkdirSync(dirname(target), { recursive: true })
    copyFileSync(join(root, image), target)
  }
  write('search.json', searchIndex(converted, pages))
  copyFileSync(join(import.meta.dirname, 'style.css'), join(outdir, 'style.css'))
  await build({
    entryPoints: [join(import.meta.dirname, 'search.mjs')],
    outfile: join(outdir, 'search.js'),
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    logLevel: 'warning',
  })
  return { pages: pages.size }
}

/** Throws an Error that lists the links to sections that do not exist. */
export function refuseBrokenLinks(converted) {
  const broken = []
  for (const [from, { links }] of converted) {
    for (const { path, anchor } of links) {
      const { html } = converted.get(path)
      if (anchor !== '' && !html.includes(`id="${anchor}"`)) broken.push(`${from}: ${path}#${anchor}`)
    }
  }
  if (broken.length > 0) throw new Error(`links to sections that do not exist:\n${broken.join('\n')}`)
}

function navigationHtml(navigation, current, base) {
  const list = ({ title, links }) => {
    const items = links.map(({ path, title: name, isBelow }) => {
      const here = path === current ? ' aria-current="page"' : ''
      const below = isBelow ? ' class="below"' : ''
      return `<li${below}><a href="${base}/${addressOf(path)}"${here}>${escapeHtml(name)}</a></li>`
    })
    return `<h2>${escapeHtml(title)}</h2>\n<ul>\n${items.join('\n')}\n</ul>`
  }
  return navigation.map(list).join('\n')
}

/** Returns the index for search.mjs, with one document per section of a page. */
function searchIndex(converted, pages) {
  const index = new MiniSearch(SEARCH)
  for (const [path, { sections }] of converted) {
    const page = titleOf(pages.get(path))
    sections.forEach(({ anchor, title, text }) => {
      const address = addressOf(path) + (anchor && `#${anchor}`)
      index.add({ id: address, page, title: anchor === '' ? page : title, text, start: text.slice(0, 160) })
    })
  }
  return JSON.stringify(index)
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { pages } = await buildSite(join(root, 'dist/site'))
  console.log(`${pages} pages in dist/site; open dist/site/index.html with any web server`)
}
