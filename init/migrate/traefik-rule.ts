/** Requests that a router of Traefik matches. */
export interface RouterRule {
  readonly host: string | undefined
  readonly path: string
  /** True if the rule matches only the path itself, and false if it also matches the paths below it. */
  readonly isExact: boolean
}

/**
 * Parses the rule of a router: `Host` and `PathPrefix` or `Path`, joined by `&&` and `||`, in the syntax of Traefik 2
 * and 3, or `Host:a;PathPrefix:/x` of Traefik 1. Returns a problem if the rule contains a matcher that devctl's routes
 * do not support.
 */
export function readRouterRule(text: string): { readonly rules: readonly RouterRule[] } | { readonly problem: string } {
  const isOld = /^\s*[A-Za-z]+:/.test(text)
  const rules: RouterRule[] = []
  for (const alternative of isOld ? [text] : splitTop(text, '||')) {
    const parts = isOld ? text.split(';') : splitTop(unwrapped(alternative), '&&')
    let hosts: readonly (string | undefined)[] = [undefined]
    let paths: readonly string[] = ['/']
    let isExact = false
    for (const part of parts) {
      // `(Host(`a`) || Host(`b`)) && PathPrefix(`/x`)`
      const group = unwrapped(part)
      const matchers = (isOld ? [group] : splitTop(group, '||')).map(one => readMatcher(one.trim(), isOld))
      const [first] = matchers
      const other = matchers.find(one => one === undefined || one.name !== first?.name)
      if (!first || (matchers.length > 1 && other !== undefined) || matchers.includes(undefined))
        return { problem: `\`${part.trim()}\` is not a host or path that a route can have` }
      const values = matchers.flatMap(one => one?.values ?? [])
      if (first.name === 'host') hosts = values
      else {
        paths = values
        isExact = first.name === 'path'
      }
    }
    for (const host of hosts) for (const path of paths) rules.push({ host, path, isExact })
  }
  return { rules }
}

interface Matcher {
  readonly name: 'host' | 'path' | 'pathprefix'
  readonly values: readonly string[]
}

function readMatcher(text: string, isOld: boolean): Matcher | undefined {
  const pattern = isOld ? /^(Host|PathPrefix|Path):\s*(.+)$/i : /^(Host|PathPrefix|Path)\s*\(\s*(.+?)\s*\)$/i
  const [, name, list] = pattern.exec(text) ?? []
  if (name === undefined || list === undefined) return undefined
  const values = list.split(',').map(one => one.trim().replace(/^[`'"](.*)[`'"]$/, '$1'))
  // A part in braces is a regular expression; `${NAME}` is a variable of the Compose file.
  if (values.some(one => one === '' || /(?<!\$)\{/.test(one) || /[`()]/.test(one))) return undefined
  return { name: name.toLowerCase() as Matcher['name'], values } // the pattern has no other names
}

/** Splits at an operator outside parentheses and quotes. */
function splitTop(text: string, operator: string): readonly string[] {
  const parts: string[] = []
  let depth = 0
  let from = 0
  let quote = ''
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!
    if (quote !== '') quote = char === quote ? '' : quote
    else if (/[`'"]/.test(char)) quote = char
    else if (char === '(') depth++
    else if (char === ')') depth--
    else if (depth === 0 && text.startsWith(operator, at)) {
      parts.push(text.slice(from, at))
      from = at + operator.length
      at = from - 1
    }
  }
  return [...parts, text.slice(from)]
}

/** Removes parentheses around a whole expression. */
function unwrapped(text: string): string {
  const trimmed = text.trim()
  if (!trimmed.startsWith('(') || !trimmed.endsWith(')')) return trimmed
  let depth = 0
  for (let at = 0; at < trimmed.length - 1; at++) {
    if (trimmed[at] === '(') depth++
    else if (trimmed[at] === ')') depth--
    if (depth === 0) return trimmed
  }
  return unwrapped(trimmed.slice(1, -1))
}
