/**
 * Start of a shell word that was read: a single character, or an expansion such as `$NAME`. `value` is its form in a
 * Compose file, and `length` is the number of characters that were read.
 */
export interface Expansion {
  /** Value in a Compose file; empty if Compose cannot compute the expansion. */
  readonly value: string
  readonly length: number
  /** Command of a `$(…)` or of backticks. */
  readonly command?: string
  /** Parameter of the script (`$1`), or expansion that only a shell computes (`${NAME%.*}`), as written. */
  readonly parameter?: string
  /** True for a variable or a parameter. Outside quotes, a shell splits its value into words. */
  readonly isVariable?: boolean
}

const NAME = /^[A-Za-z_]\w*/
/** Matches the current folder: `pwd` as a command or a variable, also as cmd.exe and PowerShell write it. */
const FOLDER = /^(?:\$\(\s*pwd\s*\)|`\s*pwd\s*`|\$\{PWD\}|\$PWD\b|\$\{pwd\}|%cd%)/i
/** The current folder in the text of a word. */
export const CURRENT_FOLDER = `$\{PWD}`
/**
 * Matches the parameters of a script (`$1`, `$@`) and the special parameters of a shell, such as its process id (`$$`).
 */
const PARAMETER = /^\$[\d@*#?!$-]/
/**
 * Matches the start of an expansion in braces: the name and, if present, an operator that Compose supports, or `=`,
 * which sets a variable to its default.
 */
const BRACES = /^\$\{([A-Za-z_]\w*)(:?[-+?=])?/

/** Reads one character, or the expansion at the start of the text. `isQuoted` is true within double quotes. */
export function readExpansion(text: string, isQuoted: boolean): Expansion {
  const folder = FOLDER.exec(text)
  // A backslash after the folder separates names: `%cd%\data`.
  if (folder && /^\\\w/.test(text.slice(folder[0].length)))
    return { value: `${CURRENT_FOLDER}/`, length: folder[0].length + 1 }
  if (folder) return { value: CURRENT_FOLDER, length: folder[0].length }
  const parameter = PARAMETER.exec(text)?.[0]
  if (parameter !== undefined) return { value: '', length: parameter.length, parameter, isVariable: true }
  const command = /^\$\(((?:[^()]|\([^()]*\))*)\)|^`([^`]*)`/.exec(text)
  if (command) return { value: '', length: command[0].length, command: (command[1] ?? command[2] ?? '').trim() }
  if (text.startsWith('${')) return readBraces(text, isQuoted) ?? onlyShell(text)
  if (text[0] !== '$') return { value: text[0] ?? '', length: 1 }
  const name = NAME.exec(text.slice(1))
  if (!name) return { value: '$$', length: 1 }
  return { value: `\${${name[0]}}`, length: name[0].length + 1, isVariable: true }
}

/** Reads an expansion that Compose has, too; undefined for others. */
function readBraces(text: string, isQuoted: boolean): Expansion | undefined {
  const [head, name, operator] = BRACES.exec(text) ?? []
  if (head === undefined) return undefined
  if (operator === undefined)
    return text[head.length] === '}' ? { value: `${head}}`, length: head.length + 1, isVariable: true } : undefined
  const operand = readOperand(text, head.length, isQuoted)
  if (!operand) return undefined
  const { value, end, ...unknown } = operand
  const isKnown = Object.keys(unknown).length === 0
  // Compose cannot set a variable, but it uses the default in the same cases.
  const written = isKnown ? `\${${name}${operator.replace('=', '-')}${value}}` : ''
  return { value: written, length: end + 1, ...unknown, isVariable: true }
}

interface Operand extends Pick<Expansion, 'value' | 'command' | 'parameter'> {
  /** Offset of the closing brace. */
  readonly end: number
}

/** Reads the operand of an operator, such as a default; undefined if it is not closed, or has braces of its own. */
function readOperand(text: string, from: number, isQuoted: boolean): Operand | undefined {
  let value = ''
  let unknown: Pick<Expansion, 'command' | 'parameter'> = {}
  let isInner = false
  for (let at = from; at < text.length && text[at] !== '\n'; ) {
    const char = text[at]!
    const closing = char === "'" && !isQuoted && !isInner ? text.indexOf("'", at + 1) : -1
    if (char === '}' && !isInner) return { value, end: at, ...unknown }
    if (char === '{' || char === '}') return undefined
    if (closing > 0) {
      const literal = text.slice(at + 1, closing)
      if (/[{}\n]/.test(literal)) return undefined
      value += literal.replaceAll('$', '$$$$')
      at = closing + 1
    } else if (char === '\\') {
      const next = text[at + 1] ?? ''
      if (/[{}\n]/.test(next)) return undefined
      const isLiteral = (isQuoted || isInner) && !/["\\$`]/.test(next)
      value += `${isLiteral ? '\\' : ''}${next === '$' ? '$$' : next}`
      at += 2
    } else if (char === '"') {
      isInner = !isInner
      at++
    } else {
      const { value: part, length, command, parameter } = readExpansion(text.slice(at), isQuoted || isInner)
      value += part
      unknown = { ...unknown, ...(command !== undefined && { command }), ...(parameter !== undefined && { parameter }) }
      at += length
    }
  }
  return undefined
}

/** Reads an expansion in braces that only a shell computes. Braces that are not closed are text. */
function onlyShell(text: string): Expansion {
  let depth = 0
  for (let at = 0; at < text.length && text[at] !== '\n'; at++) {
    if (text[at] === '\\') at++
    else if (text.startsWith('${', at)) depth++
    else if (text[at] === '}' && --depth === 0)
      return { value: '', length: at + 1, parameter: text.slice(0, at + 1), isVariable: true }
  }
  return { value: '$$', length: 1 }
}
