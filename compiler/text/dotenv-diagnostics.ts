import { diagnostic } from '../diagnostics/diagnostic.ts'

export const invalidName = diagnostic({
  code: 'dotenv/invalid-name',
  severity: 'error',
  explain: `A line of an env file is \`NAME=value\`, or \`NAME\` alone to take the value from the environment. A name consists of letters, digits and \`_ . - [ ]\`, without spaces.

\`\`\`text
MY VAR=1         # wrong: a space in the name
MY_VAR=1         # right
A='x''y'         # wrong: after a closing quote a new name would begin
A="xy"           # right
\`\`\`

Other formats, such as YAML lists or shell commands, are not supported.`,
  text: (p: { what: string; character: string; afterQuote: boolean }) =>
    p.afterQuote
      ? {
          message: `\`${p.character}\` cannot follow the closing quote`,
          hint: 'put the whole value inside one pair of quotes; inside them, write `\\` before a quote of the same kind',
        }
      : {
          message:
            p.character.trim() === ''
              ? `the name of a ${p.what} cannot contain a space`
              : `\`${p.character}\` cannot be in the name of a ${p.what}`,
          hint: 'write `NAME=value`; a name has letters, digits and `_ . - [ ]`',
        },
})

export const emptyName = diagnostic({
  code: 'dotenv/empty-name',
  severity: 'error',
  explain: 'A line of an env file has no name before `=`. Add a name, or remove the line. A comment begins with `#`.',
  text: (p: { what: string }) => ({
    message: `the name of the ${p.what} is missing`,
    hint: 'write `NAME=value`, or `#` at the start of a comment',
  }),
})

export const unterminatedQuote = diagnostic({
  code: 'dotenv/unterminated-quote',
  severity: 'error',
  explain: `A value begins with a quote that is never closed. A quoted value may span lines, so everything after it would be part of the value.

\`\`\`text
A="it is       # wrong
A="it is"      # right
A=it's         # right: quotes inside an unquoted value are literal
\`\`\``,
  text: (p: { quote: string }) => ({
    message: `the quote \`${p.quote}\` is not closed`,
    hint: `end the value with \`${p.quote}\``,
  }),
})

export const droppedText = diagnostic({
  code: 'dotenv/dropped-text',
  severity: 'warning',
  explain: `The closing quote of a value is followed by more text without an \`=\`. The text is not part of the value: Compose reads it as the name of another variable, which is taken from the environment.

\`\`\`text
A="x"y         # A is x; y is looked up in the environment
A="xy"         # A is xy
A="x" # y      # a comment
\`\`\``,
  text: (_: Record<string, never>) => ({
    message: 'text after the closing quote is not part of the value',
    hint: 'move it inside the quotes, or write ` #` before a comment',
  }),
})

export const commentInValue = diagnostic({
  code: 'dotenv/comment-in-value',
  severity: 'warning',
  explain: `A comment right after \`=\` is read as the value: in \`K= # none\`, \`K\` is the text \`# none\`, because leading spaces are dropped first. For an empty value, write nothing after \`=\`, or \`""\` before the comment.

\`\`\`text
K= # none      # K is "# none"
K="" # none    # K is empty
\`\`\``,
  text: (_: Record<string, never>) => ({
    message: 'this is the value, not a comment',
    hint: 'for an empty value, write `""` before the comment; for a value that begins with `#`, quote it',
  }),
})

export const invalidExpression = diagnostic({
  code: 'dotenv/invalid-expression',
  severity: 'error',
  explain: `A value of an env file has an invalid \`\${…}\` expression. Compose supports \`\${NAME}\`, \`\${NAME:-default}\`, \`\${NAME-default}\`, \`\${NAME:?message}\`, \`\${NAME?message}\`, \`\${NAME:+replacement}\`, \`\${NAME+replacement}\`. An expression must end on the line where it begins. Values in single quotes are literal; elsewhere write \`$$\` for a dollar sign.`,
  text: (p: { message: string; hint?: string | undefined }) => ({ message: p.message, hint: p.hint }),
})

export const requiredVariable = diagnostic({
  code: 'dotenv/required',
  severity: 'error',
  explain:
    'A value of an env file requires a variable with `${NAME:?message}`, and neither the environment nor an earlier line sets it. With `:?` the variable must not be empty either.',
  text: (p: { name: string; message: string }) => ({
    message: `\`${p.name}\` is required${p.message ? `: ${p.message}` : ''}`,
    hint: `set \`${p.name}\` in the environment, or on a line before this one`,
  }),
})

export const unsetVariable = diagnostic({
  code: 'dotenv/unset',
  severity: 'warning',
  explain:
    'A value of an env file uses a variable that neither the environment nor an earlier line sets, so it becomes empty. Set it, give it a default (`${NAME:-value}`), or put the value in single quotes, where a dollar sign is literal.',
  text: (p: { name: string }) => ({
    message: `\`${p.name}\` is not set and becomes empty`,
    hint: `set it, write \`\${${p.name}:-}\` for an empty value, or put the value in single quotes for a literal dollar sign`,
  }),
})

export const tooLarge = diagnostic({
  code: 'dotenv/too-large',
  severity: 'error',
  explain:
    'The values of an env file have more than 64 million characters after variables are substituted. The limit protects against files that are made to exhaust memory.',
  text: (_: Record<never, never>) => ({ message: 'the values of this file have more than 64 million characters' }),
})
