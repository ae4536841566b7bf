/**
 * Says whether a path is left out, or undefined when no rule is about it. `path` is relative to the folder of the ignore file, without a slash at its end.
 */
export type Ignores = (path: string, isFolder: boolean) => boolean | undefined

/**
 * The rules of a `.gitignore` (https://git-scm.com/docs/gitignore). The last rule that matches decides; what lies in an ignored folder is for the caller to leave out
 * with it.
 */
export function gitIgnore(text: string): Ignores {
  const rules = linesOf(text).flatMap(line => {
    const { body, takesBack } = negation(line.replace(/(?<!\\)\s+$/, '').replace(/^\\(?=[#!])/, ''), line)
    const path = body.replace(/\/$/, '')
    if (path === '') return []
    // A slash at the beginning or in the middle ties the pattern to this folder.
    const glob = path.includes('/') ? path.replace(/^\//, '') : `**/${path}`
    return [{ pattern: globPattern(glob), takesBack, foldersOnly: body.endsWith('/') }]
  })
  return (path, isFolder) => {
    const rule = rules.findLast(({ pattern, foldersOnly }) => (isFolder || !foldersOnly) && pattern.test(path))
    return rule && !rule.takesBack
  }
}

/**
 * The rules of a `.dockerignore`, which tie all patterns to the context and match what lies below a match, too
 * (https://docs.docker.com/build/concepts/context/#syntax).
 */
export function dockerIgnore(text: string): Ignores {
  const rules = linesOf(text).flatMap(line => {
    const { body, takesBack } = negation(line.trim(), line.trim())
    const path = body
      .trim()
      .replace(/^(\.?\/)+/, '')
      .replace(/\/+$/, '')
    return path === '' || path === '.' ? [] : [{ pattern: globPattern(path), takesBack, foldersOnly: false }]
  })
  return path => {
    let ignored: boolean | undefined
    for (const rule of rules) if (ancestors(path).some(one => rule.pattern.test(one))) ignored = !rule.takesBack
    return ignored
  }
}

const linesOf = (text: string): readonly string[] =>
  text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .filter(line => line.trim() !== '' && !line.startsWith('#'))

const negation = (body: string, line: string): { readonly body: string; readonly takesBack: boolean } =>
  line.startsWith('!') ? { body: body.slice(1), takesBack: true } : { body, takesBack: false }

/** The path itself and all folders above it. */
function ancestors(path: string): readonly string[] {
  const parts = path.split('/')
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}

/** A glob with `*`, `?`, `[…]` and `**` as a pattern of whole paths. */
export function globPattern(glob: string): RegExp {
  let source = ''
  for (let at = 0; at < glob.length; at++) {
    const char = glob[at]!
    if (char === '*' && glob[at + 1] === '*') {
      const isLast = at + 2 >= glob.length
      const isFolder = glob[at + 2] === '/'
      source += isLast ? '.*' : isFolder ? '(?:[^/]+/)*' : '.*'
      at += isFolder ? 2 : 1
    } else if (char === '*') source += '[^/]*'
    else if (char === '?') source += '[^/]'
    else if (char === '[') {
      const set = /^\[([!^]?)((?:\\.|[^\]\\])+)\]/.exec(glob.slice(at))
      source += set ? `[${set[1] ? '^' : ''}${set[2]!.replace(/\[/g, '\\[')}]` : '\\['
      if (set) at += set[0].length - 1
    } else if (char === '\\' && at + 1 < glob.length) source += escaped(glob[++at]!)
    else source += escaped(char)
  }
  return compiled(source, glob)
}

function compiled(source: string, glob: string): RegExp {
  try {
    return new RegExp(`^${source}$`, 'su')
  } catch {
    // A set with its ends in the wrong order matches nothing but itself.
    return new RegExp(`^${[...glob].map(escaped).join('')}$`, 'su')
  }
}

const escaped = (char: string): string => char.replace(/[$()*+./?[\\\]^{|}]/, '\\$&')
