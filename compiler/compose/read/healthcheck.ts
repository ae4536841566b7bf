import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Span } from '../../text/source.ts'
import { entry, isMap, type MapTree } from '../../text/tree.ts'
import type { Healthcheck } from '../project.ts'
import type { ReadContext } from './context.ts'
import { checkCount } from './counts.ts'
import { readDuration } from './durations.ts'
import { readPortNumber } from './network/port-number.ts'
import { flag, integer, text, words } from './tree-values.ts'

const httpAndTest = diagnostic({
  code: 'healthcheck/http-and-test',
  severity: 'error',
  explain: `A healthcheck is either a command (\`test\`) or a request (\`http\`), not both: a Kubernetes probe has one kind of check. Remove one of them.

\`\`\`yaml
healthcheck:
  http: {path: /health, port: 8080}
\`\`\``,
  text: () => ({ message: 'a healthcheck has both `http` and `test`', hint: 'keep one of the two' }),
})

const httpPath = diagnostic({
  code: 'healthcheck/http-path',
  severity: 'error',
  explain:
    'The path of an HTTP healthcheck starts with `/`. It is not a full URL: the request always goes to the container itself.',
  text: (p: { path: string }) => ({
    message: `the healthcheck path \`${p.path}\` does not start with \`/\``,
    hint: `write \`/${p.path.replace(/^[a-z]+:\/\/[^/]*\/?/, '')}\``,
  }),
})

const emptyTest = diagnostic({
  code: 'healthcheck/empty-test',
  severity: 'error',
  explain: `The \`test\` of a healthcheck has no command. \`CMD\` is followed by a program and its arguments, \`CMD-SHELL\` by one shell command. To turn the healthcheck off, write \`disable: true\`.

\`\`\`yaml
test: ["CMD", "pg_isready", "-U", "postgres"]
test: ["CMD-SHELL", "pg_isready -U postgres || exit 1"]
\`\`\``,
  text: () => ({
    message: 'the healthcheck `test` has no command',
    hint: 'write the command to run, or `disable: true`',
  }),
})

const extraWords = diagnostic({
  code: 'healthcheck/extra-words',
  severity: 'warning',
  explain: `\`CMD-SHELL\` takes one string, the shell command. Further items become \`$0\`, \`$1\`, … and are not part of the command, so
\`["CMD-SHELL", "curl", "-f", "http://localhost"]\` runs \`curl\` without arguments. devctl does what Compose does. Use \`CMD\` instead.`,
  text: (p: { script: string }) => ({
    message: `\`CMD-SHELL\` runs only \`${p.script}\`; the items after it are not part of the command`,
    hint: 'use `CMD`, or write the whole command as one string',
  }),
})

const noneAsText = diagnostic({
  code: 'healthcheck/none-as-text',
  severity: 'warning',
  explain: `A \`test\` that is a string is a shell command, so \`test: NONE\` runs a program called \`NONE\`, which no image has. Only the list \`["NONE"]\` turns the healthcheck off.

\`\`\`yaml
healthcheck:
  test: ["NONE"]    # or: disable: true
\`\`\``,
  text: () => ({
    message: '`test: NONE` runs a command called `NONE`, which will fail',
    hint: 'write `disable: true`, or the list `["NONE"]`',
  }),
})

/** Reads `healthcheck`, including the dialect's `http` key and probe switches. */
export function readHealthcheck(service: MapTree, context: ReadContext): Healthcheck | undefined {
  const found = entry(service, 'healthcheck')
  if (!isMap(found?.value)) return undefined
  const tree = found.value
  const check = readCheck(tree, found.key, context)
  if (!check) return undefined
  return {
    span: found.key,
    check,
    interval: readTiming(tree, 'interval'),
    timeout: readTiming(tree, 'timeout'),
    startPeriod: readTiming(tree, 'start_period'),
    startInterval: readTiming(tree, 'start_interval'),
    retries: checkCount(integer(tree, 'retries'), 'retries', context.reporter),
    readiness: flag(tree, 'x-platform-readiness') ?? { value: true, span: found.key },
    liveness: flag(tree, 'x-platform-liveness') ?? { value: false, span: found.key },
  }
}

function readCheck(tree: MapTree, span: Span, context: ReadContext): Healthcheck['check'] | undefined {
  const test = words(tree, 'test')
  if (flag(tree, 'disable')?.value || test?.words[0] === 'NONE') return { kind: 'none' }
  const http = entry(tree, 'http')
  if (http && test?.words.length) {
    const other = entry(tree, 'test')
    context.reporter.report(httpAndTest, http.key, undefined, other && [{ span: other.key, message: '`test` is here' }])
    return undefined
  }
  if (http) return readHttp(tree, http.key, context)
  if (!test || test.words.length === 0) return { kind: 'image' }
  return readTest(test.words, test.span ?? span, context)
}

function readTest(
  [mode, ...rest]: readonly string[],
  span: Span,
  { reporter }: ReadContext,
): Healthcheck['check'] | undefined {
  // The loader has already reported any other first item.
  if (mode !== 'CMD' && mode !== 'CMD-SHELL') return undefined
  const [script = '', ...others] = rest
  // A shell without commands succeeds, so a container with `test: ""` would always be healthy.
  if (script.trim() === '' && (mode === 'CMD' || rest.length === 0)) {
    reporter.report(emptyTest, span, undefined)
    return undefined
  }
  if (mode === 'CMD') return { kind: 'exec', command: rest, span }
  if (script.trim() === 'NONE') reporter.report(noneAsText, span, undefined)
  if (others.length === 0) return { kind: 'shell', script, span }
  reporter.report(extraWords, span, { script })
  return { kind: 'exec', command: ['/bin/sh', '-c', script, ...others], span }
}

function readHttp(tree: MapTree, span: Span, context: ReadContext): Healthcheck['check'] | undefined {
  const path = text(tree, 'http', 'path')
  const port = readPortNumber(tree, ['http', 'port'], context)
  if (!path || path.value.startsWith('/'))
    return path && port && { kind: 'http', path: path.value, port: port.value, span }
  context.reporter.report(httpPath, path.span, { path: path.value })
  return undefined
}

/** Reads a duration. Zero counts as absent, because zero makes the engine use its default. */
function readTiming(tree: MapTree, key: string): Healthcheck['interval'] {
  const found = readDuration(tree, key)
  return found?.value.milliseconds === 0 ? undefined : found
}
