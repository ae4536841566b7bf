import { diagnostic } from '../../diagnostics/diagnostic.ts'
import { reportMissing } from '../../text/interpolate.ts'
import type { Span } from '../../text/source.ts'
import type { MapTree } from '../../text/tree.ts'
import type { Pair, SecretVariable, Service } from '../project.ts'
import type { ReadContext } from './context.ts'
import { modelVariables } from './models.ts'
import { entries, sortByName } from './tree-values.ts'

const emptyName = diagnostic({
  code: 'environment/empty-name',
  severity: 'error',
  explain: `An environment variable needs a name. The entry is empty, or starts with \`=\`, often because a variable has no value.

\`\`\`yaml
environment:
  - =production           # no name
  - NODE_ENV=production
\`\`\``,
  text: () => ({ message: 'an environment variable has no name', hint: 'write `NAME=value`' }),
})

const nul = diagnostic({
  code: 'environment/nul',
  severity: 'error',
  explain:
    'An environment variable cannot contain a NUL character: the operating system ends the value there. Remove it, or pass the bytes in a config or secret file.',
  text: (p: { name: string }) => ({ message: `the environment variable \`${p.name}\` contains a NUL character` }),
})

const noValue = diagnostic({
  code: 'environment/no-value',
  severity: 'info',
  explain: `A variable without a value takes it from the shell, from \`.env\` or from the platform. None of them sets it, so the container does not get the variable, as in Compose. This is a remark, which \`--log-level info\` shows.

If the container needs the variable, give it a value, write \`NAME: ""\` for an empty one, or remove the entry.`,
  text: (p: { name: string }) => ({
    message: `\`${p.name}\` is not set in the shell, in .env or on the platform, and is left out`,
    hint: `set it, or write \`${p.name}: ""\` for an empty value`,
  }),
})

/**
 * Reads the variables of a service, including those of its models, and separates the variables whose values come from
 * Secrets.
 */
export function readServiceEnvironment(
  service: MapTree,
  context: ReadContext,
): Pick<Service, 'environment' | 'secretEnvironment'> {
  const ofModels = modelVariables(service, context.models)
  const all = withPairs(readEnvironment(service, context, context.isFromSecret), ofModels)
  const fromSecrets = all.filter(({ name }) => context.isFromSecret(name))
  const known = new Set(fromSecrets.map(({ name }) => name))
  const withoutValue = [...entries(service, 'environment')].flatMap(([name, { key, value }]): SecretVariable[] => {
    if (!context.isFromSecret(name) || known.has(name) || value.kind !== 'scalar') return []
    return [{ name, span: value.type === 'null' ? key : value.span }]
  })
  return {
    environment: all.filter(({ name }) => !context.isFromSecret(name)),
    secretEnvironment: sortByName([
      ...fromSecrets.map(({ name, value, span }) => ({ name, value, span })),
      ...withoutValue,
    ]),
  }
}

/** Returns both lists of pairs, sorted by name. If a name is in both, the pair in `added` is used. */
function withPairs(pairs: readonly Pair[], added: readonly Pair[]): readonly Pair[] {
  if (added.length === 0) return pairs
  return sortByName([...new Map([...pairs, ...added].map(pair => [pair.name, pair])).values()])
}

/**
 * Reads `environment`, including the content of `env_file`, sorted by name. Reports variables without a name and
 * variables without a value, except variables that `mayBeUnset` accepts.
 */
export function readEnvironment(
  owner: MapTree,
  { reporter }: Pick<ReadContext, 'reporter'>,
  mayBeUnset: (name: string) => boolean = () => false,
): readonly Pair[] {
  const found: Pair[] = []
  for (const [name, { key, value }] of entries(owner, 'environment')) {
    if (value.kind !== 'scalar') continue
    if (name === '') reporter.report(emptyName, nonEmptySpan(key, value.span), undefined)
    else if (value.type === 'null') {
      if (mayBeUnset(name)) continue
      if (value.missing) reportMissing(value.missing, reporter)
      else reporter.report(noValue, key, { name })
    } else if (String(value.value).includes('\0')) reporter.report(nul, value.span, { name })
    else found.push({ name, value: String(value.value), span: value.span, key })
  }
  return sortByName(found)
}

/** Returns the span of the key, or the span of the value if the key is empty. */
const nonEmptySpan = (key: Span, value: Span): Span => (key.end > key.start ? key : value)
