import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { text } from './option.ts'

/** Option `--report` of commands that can report which keys are approximated or have no effect. */
export const report = text(
  '--report <file>',
  'write the keys that are approximated or have no effect to this file, with lines and reasons: Markdown (`.md`) or JSON (`.json`)',
  {
    completes: 'file',
    check(value, option) {
      if (/\.(md|json)$/.test(value)) return
      throw new UsageError(`\`${option}\` is \`${value}\``, { hint: 'end the name with `.md` or `.json`' })
    },
  },
)
