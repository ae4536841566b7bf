type Labels = Readonly<Record<string, string>>

/** Reads a label selector (`a=b,c,!d,e!=f,g in (x,y)`) as the API server does. Throws an Error for what is none. */
export function parseSelector(text: string | undefined): (labels: Labels) => boolean {
  const parts = (text ?? '').split(/,(?![^(]*\))/).map(part => part.trim())
  const checks = parts.filter(part => part !== '').map(parsePart)
  return labels => checks.every(check => check(labels))
}

function parsePart(part: string): (labels: Labels) => boolean {
  const set = /^(\S+) (in|notin) \(([^)]*)\)$/.exec(part)
  if (set) {
    const [, key, operator, list] = set
    const values = list!.split(',').map(value => value.trim())
    return labels => values.includes(labels[key!] ?? '\0') === (operator === 'in')
  }
  const equal = /^([^=!\s]+)\s*(==?|!=)\s*([^=!\s]*)$/.exec(part)
  if (equal) {
    const [, key, operator, value] = equal
    return labels => (labels[key!] === value) === (operator !== '!=')
  }
  if (/^!?[^=!\s]+$/.test(part)) return labels => part.startsWith('!') !== Object.hasOwn(labels, part.replace('!', ''))
  throw new Error(`unable to parse requirement: ${part}`)
}
