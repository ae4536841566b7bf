import { looksSecretText } from './secret-looks.ts'
import { isVariableWithSecret } from './secret-names.ts'

/** Placeholder for a secret. */
const MASK = '***'

/**
 * Masks texts that look like secrets, line by line: by their shape, by the name before them, or because they are
 * random. Also masks the value of a Kubernetes variable, whose name is on the line before. Keeps the number of lines.
 * `look` detects a secret in a text.
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

/** Maximum number of secrets in a line. A line with more is masked completely. */
const MOST = 20
