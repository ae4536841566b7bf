import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../diagnostics/reporter.ts'
import type { ScalarTree, UsedVariable } from '../../text/tree.ts'
import { toBool, toFloat, toInt } from '../../values/numbers/go-number.ts'

/** Hint for a value that cannot be converted, by the type that is expected. */
const EXAMPLES: Readonly<Record<string, string>> = {
  'a boolean': 'write `true` or `false`',
  'a file mode': 'write an octal number, such as `0644`',
  'a number': 'write a number, such as `0.5`',
  'an integer': 'write a whole number, such as `2`',
}

const notConvertible = diagnostic({
  code: 'schema/not-convertible',
  severity: 'error',
  explain:
    'This key takes a number or a boolean, and the text (after variables were substituted) is neither. An empty text is not a number: give the variable a default, as in `${REPLICAS:-1}`.',
  text: (p: { value: string; type: string; variables: readonly UsedVariable[] }) => ({
    message: `\`${p.value}\` is not ${p.type}`,
    notes: p.variables.map(variable => `\`${variable.name}\` comes from ${variable.origin}`),
    hint:
      p.value === '' && p.variables.length > 0
        ? 'give the variable a value or a default, as in `${NAME:-1}`'
        : EXAMPLES[p.type],
  }),
})
const yaml11Boolean = diagnostic({
  code: 'schema/old-boolean',
  severity: 'warning',
  explain:
    '`yes`, `no`, `on`, `off`, `y` and `n` are booleans in YAML 1.1 only. Compose still accepts them where a boolean is expected. Write `true` or `false`.',
  text: (p: { value: string; means: string }) => ({
    message: `\`${p.value}\` is read as \`${p.means}\``,
    hint: `write \`${p.means}\``,
  }),
})

/**
 * Converts a string to the type that the `cast` of its key names. If that is not possible, reports
 * `schema/not-convertible` and returns undefined.
 */
export function convertScalar(scalar: ScalarTree, cast: string, reporter: Reporter): ScalarTree | undefined {
  const text = scalar.value as string // interpolate calls this for strings only
  const fail = (type: string): undefined => {
    reporter.report(notConvertible, scalar.span, { value: text, type, variables: scalar.variables ?? [] })
    return undefined
  }
  switch (cast) {
    case 'boolean': {
      const flag = toBool(text)
      if (!flag.ok) return fail('a boolean')
      if (flag.yaml11) reporter.report(yaml11Boolean, scalar.span, { value: text, means: String(flag.value) })
      return { ...scalar, type: 'bool', value: flag.value }
    }
    case 'umask': {
      if (!/^(0[oO]?[0-7]+|0[xX][0-9a-fA-F]+|0[bB][01]+|0|[1-9]\d*)$/.test(text)) return fail('a file mode')
      return { ...scalar, type: 'int', value: /^0[0-7]/.test(text) ? Number.parseInt(text, 8) : Number(text) }
    }
    case 'integer': {
      const integer = toInt(text)
      return integer.ok ? { ...scalar, type: 'int', value: integer.value } : fail('an integer')
    }
    default: {
      const number = toFloat(text)
      return number.ok ? { ...scalar, type: 'float', value: number.value } : fail('a number')
    }
  }
}
