/**
 * A step of the composite action, and of workflows:
 * https://docs.github.com/actions/reference/workflows-and-actions/metadata-syntax
 */
export interface Step {
  readonly name?: string
  readonly id?: string
  readonly if?: string
  readonly uses?: string
  readonly run?: string
  readonly shell?: string
  readonly env?: Readonly<Record<string, string>>
  readonly with?: Readonly<Record<string, string>>
  readonly 'working-directory'?: string
}

/** The context of expressions. */
export type Values = Readonly<Record<string, string>>

/** Replaces the expressions of a text. Only those that the action uses are known: `a.b`, `x || y` and `format(…)`. */
export const evaluate = (text: string, values: Values): string =>
  text.replace(/\$\{\{ (.+?) \}\}/g, (_, expression: string) => resultOf(expression, values))

/** Returns true if a condition holds. */
export function holds(condition: string | undefined, values: Values): boolean {
  if (condition === undefined) return true
  const [, left = '', right = ''] = /^(\S+) != '(.*)'$/.exec(condition)!
  return resultOf(left, values) !== right
}

function resultOf(expression: string, values: Values): string {
  const alternatives = expression.split(' || ').map(one => {
    const format = /^format\('(.*)', (\S+)\)$/.exec(one)
    if (format) return format[1]!.replace('{0}', resultOf(format[2]!, values))
    if (!/^[\w.-]+$/.test(one)) throw new Error(`unknown expression: ${one}`)
    return values[one] ?? ''
  })
  return alternatives.find(one => one !== '') ?? ''
}
