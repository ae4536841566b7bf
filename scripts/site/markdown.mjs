// Converts a page from Markdown to HTML, with the links of the site.
import { posix } from 'node:path'
import { Marked } from 'marked'
import { addressOf, targetOf } from './pages.mjs'

/**
 * Converts a page. Returns `{ html, sections, links, images }`: the sections for the search (`{ anchor, title, text }`;
 * the first one is the page itself), the links to other pages (`{ path, anchor }`), and the paths of the images.
 * `repository` is the address of the files that are not pages of the site.
 */
export function convert(path, text, { isPage, repository }) {
  const sections = [{ anchor: '', title: '', text: '' }]
  const [links, images, used] = [[], [], new Map()]
  const here = addressOf(path)
  const relative = to => posix.relative(posix.dirname(here), to) || posix.basename(to)
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth }) {
        const html = this.parser.parseInline(tokens)
        const plain = plainText(tokens)
        const anchor = unique(slug(plain), used)
        if (depth === 1) sections[0].title = plain
        else sections.push({ anchor, title: plain, text: '' })
        if (depth === 1) return `<h${depth} id="${anchor}">${html}</h${depth}>\n`
        const label = escapeHtml(`Link to ${plain}`)
        const link = `<a class="anchor" href="#${anchor}" aria-label="${label}">#</a>`
        return `<h${depth} id="${anchor}">${html}${link}</h${depth}>\n`
      },
      link({ href, tokens, title }) {
        const html = this.parser.parseInline(tokens)
        const named = title ? ` title="${escapeHtml(title)}"` : ''
        if (/^[a-z]+:/.test(href)) return `<a href="${escapeHtml(href)}"${named}>${html}</a>`
        const target = targetOf(path, href)
        const page = isPage(target.path) ? target.path : undefined
        if (page) links.push({ path: page, anchor: target.anchor })
        const to = page
          ? (page === path ? '' : relative(addressOf(page))) + (target.anchor && `#${target.anchor}`)
          : `${repository}/${target.path}`
        return `<a href="${escapeHtml(to)}"${named}>${html}</a>`
      },
      image({ href, text: alt }) {
        const target = targetOf(path, href).path
        images.push(target)
        const address = relative(target.replace(/^docs\//, ''))
        return `<img src="${escapeHtml(address)}" alt="${escapeHtml(alt)}" loading="lazy">`
      },
      code({ text: code, lang = '' }) {
        const [language = ''] = lang.split(/\s+/)
        const shown = `<code${language && ` class="language-${escapeHtml(language)}"`}>${escapeHtml(code)}</code>`
        // A region that scrolls must be reachable by keyboard.
        return `<pre tabindex="0">${shown}</pre>\n`
      },
      table(token) {
        const cell = (tokens, tag) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`
        // An empty header is announced as one, so it is an ordinary cell.
        const row = (cells, tag) =>
          `<tr>${cells.map(({ text, tokens }) => cell(tokens, text === '' ? 'td' : tag)).join('')}</tr>`
        const [head, rows] = [row(token.header, 'th'), token.rows.map(cells => row(cells, 'td')).join('\n')]
        return `<div class="table" tabindex="0"><table><thead>${head}</thead><tbody>${rows}</tbody></table></div>\n`
      },
    },
  })
  const tokens = marked.lexer(text)
  const html = marked.parser(tokens)
  addTexts(tokens, sections)
  return { html, sections, links, images }
}

/** Adds the text of every block to the section that it is in. */
function addTexts(tokens, sections) {
  let at = 0
  for (const token of tokens) {
    if (token.type === 'heading') {
      if (token.depth > 1) at++
    } else sections[at].text += `${plainText([token])} `
  }
}

/** Returns the text of tokens without formatting. */
function plainText(tokens) {
  return tokens
    .map(token => {
      if (token.type === 'table')
        return [...token.header, ...token.rows.flat()].map(cell => plainText(cell.tokens)).join(' ')
      if (token.type === 'list') return token.items.map(item => plainText(item.tokens)).join(' ')
      return token.tokens ? plainText(token.tokens) : (token.text ?? '')
    })
    .join('')
    .replace(/\s+/g, ' ')
}

/** Returns the anchor of a heading, as GitHub makes it. */
export function slug(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')
}

/** Returns the anchor, with a number appended if an earlier heading of the page has the same anchor. */
function unique(anchor, used) {
  const count = used.get(anchor) ?? 0
  used.set(anchor, count + 1)
  return count === 0 ? anchor : `${anchor}-${count}`
}

export function escapeHtml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
