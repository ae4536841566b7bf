import { looksSecretText } from './secret-looks.ts'
import { isVariableWithSecret } from './secret-names.ts'

/** The placeholder for a secret. */
const MASK = '***'

/**
 * A text, line by line, without what looks like a secret: by its shape, by the name before it,
 * because it is random; also the value of a variable in the way of Kubernetes, whose name is on the
 * line before. As many lines as before. `look` says what a secret looks like.
 */
export function maskSecrets(text: string, look: typeof looksSecretText = looksSecretText): string {
  let name = ''
  return text
    .split('\n')
    .map(line => {
      const [, head, value] = /^(\s*(?:- )?["']?value["']?:\s*)(.*)$/.exec(line) ?? []
      const isNamed = head !== undefined && value !== undefined && isVariableWithSecret(name, bare(value))
      name = bare(/^\s*(?:- )?["']?name["']?:\s*(.*)$/.exec(line)?.[1] ?? '')
      return isNamed ? `${head}${MASK}` : maskLine(line, look)
    })
    .join('\n')
}

const bare = (text: string): string => text.replace(/^(["'])(.*)\1,?$/, '$2')

function maskLine(line: string, looks: typeof looksSecretText): string {
  let masked = line
  for (let rounds = 0; rounds < MOST; rounds++) {
    const look = looks(masked)
    if (!look) return masked
    masked = `${masked.slice(0, look.start)}${MASK}${masked.slice(look.end)}`
  }
  return MASK
}

/** Secrets in one line; what has more of them is not shown at all. */
const MOST = 20
