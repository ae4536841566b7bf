/** Returns the targets of the links and pictures of a page, except those in code. */
export function linksOf(text: string): readonly string[] {
  const withoutCode = text.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, '`')
  return [...withoutCode.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!)
}

/** Returns the anchors of the headings of a page, as GitHub makes them: the second `Size` is `size-1`. */
export function anchorsOf(text: string): readonly string[] {
  const used = new Map<string, number>()
  return [...text.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => {
    const anchor = title
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replace(/\s/g, '-')
    const count = used.get(anchor) ?? 0
    used.set(anchor, count + 1)
    return count === 0 ? anchor : `${anchor}-${count}`
  })
}
