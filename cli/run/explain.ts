import { catalogue } from '../../compiler/diagnostics/diagnostic.ts'
import { diagnosticPage, type ExplainedCode } from '../../compiler/diagnostics/document.ts'
import { failureSummary } from '../../compiler/diagnostics/render/summary.ts'
import { suggest } from '../../compiler/diagnostics/suggest.ts'
import { UsageError, UserError } from '../../compiler/diagnostics/user-error.ts'
import { jsonText } from '../../compiler/values/printable.ts'
import { explainedRefusals } from '../../platform/rules/refusal-pages.ts'
import type { Context } from '../command.ts'
import type { ExplainValues } from '../commands/explain.ts'
import { printDiagnostics } from '../terminal/report.ts'

/**
 * Explains a key, a line or an object of the project, or a diagnostic code. A text that can be both, such as
 * `secrets/plain-text`, is a code.
 */
export async function explainSubject(
  context: Context,
  subject: string | undefined,
  path: string | undefined,
  options: ExplainValues,
): Promise<number> {
  const { io, logLevel } = context
  const { parseTarget } = await import('../../explain/target.ts')
  const target =
    subject === undefined || (path === undefined && (await isCode(subject))) ? undefined : parseTarget(subject, path)
  if (!target) {
    if (path !== undefined)
      throw new UsageError(`\`${subject}\` is not an object`, {
        hint: 'write `KIND/NAME PATH`, such as `deployment/web spec.replicas`',
      })
    io.stdout.write(await explainCode(subject, options.output))
    return 0
  }
  const { explain } = await import('../../operations/explain/explain.ts')
  const outcome = await explain({ workspace: io }, { ...options, target })
  if (outcome.kind === 'refused') {
    printDiagnostics(outcome.diagnostics, io, logLevel)
    io.stderr.write(`${failureSummary(outcome.diagnostics, 'there are no objects to explain')}\n`)
    return 1
  }
  if (options.output === 'json') io.stdout.write(`${jsonText(outcome, 2)}\n`)
  else {
    const { printFields, printLines } = await import('../terminal/print-explanation.ts')
    io.stdout.write(
      outcome.kind === 'lines'
        ? printLines(outcome.nodes, outcome.settings, outcome.dropped)
        : printFields(outcome.fields),
    )
  }
  return 0
}

/** True if a text is a diagnostic code or the name of a family of codes. */
async function isCode(text: string): Promise<boolean> {
  if (!/^[\w-]+(\/[\w-]*)?$/.test(text)) return false
  const family = text.replace(/\/$/, '')
  return (await allCodes()).some(({ code }) => code === text || code.startsWith(`${family}/`))
}

/**
 * Returns the page of a diagnostic code or of a platform error code. For the name of a family, returns the list of its
 * codes; without a code, the list of all codes. In JSON, a list contains the pages.
 */
export async function explainCode(code: string | undefined, output: 'text' | 'json' = 'text'): Promise<string> {
  const kinds = await allCodes()
  const kind = kinds.find(one => one.code === code)
  if (kind) return output === 'json' ? `${jsonText(toRecord(kind), 2)}\n` : diagnosticPage(kind)
  const listed = code === undefined ? kinds : codesOfFamily(code, kinds)
  return output === 'json' ? `${jsonText(listed.map(toRecord), 2)}\n` : list(listed)
}

const toRecord = ({ code, severity, explain }: ExplainedCode) => ({ code, severity, text: explain })

/** Returns the codes of a family. Throws a UserError that suggests similar codes if there is no such family. */
function codesOfFamily(code: string, kinds: readonly ExplainedCode[]): readonly ExplainedCode[] {
  const listed = kinds.filter(one => one.code.startsWith(`${code.replace(/\/$/, '')}/`))
  if (listed.length > 0) return listed
  const near = nearCodes(
    code,
    kinds.map(one => one.code),
  )
  const service = code.includes('/') ? '' : `; write \`services.${code}\` for a service`
  throw new UserError(`unknown diagnostic code \`${code}\``, {
    hint:
      near.length > 0
        ? `did you mean ${near.map(one => `\`${one}\``).join(' or ')}?${service}`
        : `\`devctl explain\` lists all codes${service}`,
  })
}

async function allCodes(): Promise<readonly ExplainedCode[]> {
  // Kinds are declared next to the code that reports them, so the full compiler must be loaded.
  await Promise.all([
    import('../../compiler/index.ts'),
    import('../../compiler/compose/build-spec.ts'),
    import('../../compiler/manifest/build-spec.ts'),
    import('../../compiler/manifest/read.ts'),
    import('../../compiler/manifest/automatic.ts'),
    import('../../environment/status/failures.ts'),
    import('../../commands/command-diagnostics.ts'),
    import('../../init/migrate/notes.ts'),
    import('../../compiler/manifest/not-published.ts'),
    import('../../compiler/manifest/okteto-builds.ts'),
    import('../../builds/plan/official-names.ts'),
    import('../../builds/plan/same-images.ts'),
    import('../../builds/plan/planned-builds.ts'),
    import('../../builds/failures/not-built.ts'),
    import('../../builds/confirm-images.ts'),
    import('../../builds/failures/failed-step.ts'),
    import('../../builds/builder/ssh-keys.ts'),
  ])
  const all: readonly ExplainedCode[] = [...catalogue.values(), ...explainedRefusals()]
  return all.toSorted((a, b) => (a.code < b.code ? -1 : 1))
}

/**
 * Returns the codes that a word most likely means: the code or family that it misspells, or the codes with that name in
 * any family.
 */
function nearCodes(word: string, codes: readonly string[]): readonly string[] {
  const nameOf = (code: string) => code.slice(code.indexOf('/') + 1)
  const last = word.slice(word.lastIndexOf('/') + 1)
  const named = (name: string | undefined) => codes.filter(code => name !== undefined && nameOf(code) === name)
  const same = named(last)
  if (same.length > 0) return same
  const families = codes.map(code => code.slice(0, code.indexOf('/')))
  const near = suggest(word, codes) ?? suggest(word, families)
  return near === undefined ? named(suggest(last, codes.map(nameOf))) : [near]
}

function list(kinds: readonly ExplainedCode[]): string {
  const width = Math.max(...kinds.map(({ code }) => code.length))
  return kinds.map(({ code, severity }) => `${code.padEnd(width)}  ${severity}\n`).join('')
}
