import { diagnostic } from '../diagnostics/diagnostic.ts'

export const invalidName = diagnostic({
  code: 'dotenv/invalid-name',
  severity: 'error',
  explain: `A line of an env file begins with a name: letters, digits and \`_ . - [ ]\`, without blanks. After it comes \`=\` and the value, or nothing to take the value from the environment.

\`\`\`
MY VAR=1         # wrong: a blank in the name
MY_VAR=1         # right
A='x''y'         # wrong: after a closing quote a new name would begin
A="xy"           # right
\`\`\`

Other notations, such as YAML lists or shell commands, are not understood.`,
  text: (p: { what: string; character: string; afterQuote: boolean }) =>
    p.afterQuote
      ? {
          message: `\`${p.character}\` cannot follow the closing quote`,
          hint: 'put the whole value inside one pair of quotes; inside them, write `\\` before a quote of the same kind',
        }
      : {
          message:
            p.character.trim() === ''
              ? `the name of a ${p.what} cannot contain a blank`
              : `\`${p.character}\` cannot be in the name of a ${p.what}`,
          hint: 'write `NAME=value`; names have letters, digits and `_ . - [ ]`',
        },
})

export const emptyName = diagnostic({
  code: 'dotenv/empty-name',
  severity: 'error',
  explain:
    'A line of an env file has a value and no name before its `=`. No process could read such a variable. Write a name, or remove the line; a comment begins with `#`.',
  text: (p: { what: string }) => ({
    message: `the name of the ${p.what} is missing`,
    hint: 'write `NAME=value`, or `#` at the start of a comment',
  }),
})

export const unterminatedQuote = diagnostic({
  code: 'dotenv/unterminated-quote',
  severity: 'error',
  explain: `A value begins with a quote that is not closed anywhere in the file. A quoted value may span lines, so everything after it would belong to it.

\`\`\`
A="it is       # wrong
A="it is"      # right
A=it's         # right: quotes inside a bare value mean nothing
\`\`\``,
  text: (p: { quote: string }) => ({
    message: `the quote \`${p.quote}\` is not closed`,
    hint: `end the value with \`${p.quote}\``,
  }),
})

export const droppedText = diagnostic({
  code: 'dotenv/dropped-text',
  severity: 'warning',
  explain: `After the closing quote of a value stands more text without an \`=\`. It does not belong to the value: Compose reads it as the name of another variable, to be taken from the environment.

\`\`\`
A="x"y         # A is x; y is looked up in the environment
A="xy"         # A is xy
A="x" # y      # a comment
\`\`\``,
  text: (_: Record<string, never>) => ({
    message: 'this text is not part of the value: the quote before it closed it',
    hint: 'put it inside the quotes, or write ` #` before a comment',
  }),
})

export const commentInValue = diagnostic({
  code: 'dotenv/comment-in-value',
  severity: 'warning',
  explain: `A comment at the place of a value is the value: in \`K= # none\`, \`K\` is the text \`# none\`, because blanks before a value are dropped first. For an empty value, write nothing after the \`=\`, or a pair of quotes before the comment.

\`\`\`
K= # none      # K is "# none"
K="" # none    # K is empty
\`\`\``,
  text: (_: Record<string, never>) => ({
    message: 'this is the value, not a comment',
    hint: 'for an empty value write `""` before the comment; for a value that begins with `#`, put it in quotes',
  }),
})

export const invalidExpression = diagnostic({
  code: 'dotenv/invalid-expression',
  severity: 'error',
  explain: `A value of an env file has a \`\${…}\` expression that is in none of the forms that Compose knows: \`\${NAME}\`, \`\${NAME:-default}\`, \`\${NAME-default}\`, \`\${NAME:?message}\`, \`\${NAME?message}\`, \`\${NAME:+replacement}\`, \`\${NAME+replacement}\`. An expression must end on its line. Values in single quotes are taken as they are; elsewhere a dollar sign is written \`$$\`.`,
  text: (p: { message: string; hint?: string | undefined }) => ({ message: p.message, hint: p.hint }),
})

export const requiredVariable = diagnostic({
  code: 'dotenv/required',
  severity: 'error',
  explain:
    'A value of an env file says with `${NAME:?message}` that it cannot do without a variable, and neither the environment nor an earlier line sets it. With `:?` an empty value does not count.',
  text: (p: { name: string; message: string }) => ({
    message: `\`${p.name}\` is required${p.message ? `: ${p.message}` : ''}`,
    hint: `set \`${p.name}\` in the environment, or on a line before this one`,
  }),
})

export const unsetVariable = diagnostic({
  code: 'dotenv/unset',
  severity: 'warning',
  explain:
    'A value of an env file uses a variable that neither the environment nor an earlier line sets, so that it becomes an empty text. Set it, give it a default (`${NAME:-value}`), or put the value in single quotes, where a dollar sign is only a dollar sign.',
  text: (p: { name: string }) => ({
    message: `\`${p.name}\` is not set and becomes empty`,
    hint: `set it, write \`\${${p.name}:-}\` if empty is right, or put the value in single quotes if the dollar sign is meant`,
  }),
})

export const tooLarge = diagnostic({
  code: 'dotenv/too-large',
  severity: 'error',
  explain:
    'The values of an env file come to more than 64 million characters once their variables are substituted. This protects against files made to exhaust memory.',
  text: (_: Record<never, never>) => ({ message: 'the values of this file come to more than 64 million characters' }),
})
