import { catalogue } from '../../compiler/diagnostics/diagnostic.ts'
import { diagnosticPage, type ExplainedCode } from '../../compiler/diagnostics/document.ts'
import { suggest } from '../../compiler/diagnostics/suggest.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { explainedRefusals } from '../../platform/rules/refusal-pages.ts'

/**
 * Returns the page of a diagnostic code or of a platform error code. For the name of a family, returns the list of its
 * codes; without a code, the list of all codes.
 */
export async function explainCode(code: string | undefined): Promise<string> {
  // Kinds are declared next to the code that reports them, so the full compiler must be loaded.
  await Promise.all([
    import('../../compiler/index.ts'),
    import('../../compiler/compose/build-spec.ts'),
    import('../../compiler/manifest/build-spec.ts'),
    import('../../compiler/manifest/read.ts'),
    import('../../compiler/manifest/automatic.ts'),
    import('../../environment/status/failures.ts'),
    import('../../operations/commands/command-diagnostics.ts'),
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
  const kinds = all.toSorted((a, b) => (a.code < b.code ? -1 : 1))
  const kind = kinds.find(one => one.code === code)
  if (kind) return diagnosticPage(kind)

  const listed = code === undefined ? kinds : kinds.filter(one => one.code.startsWith(`${code.replace(/\/$/, '')}/`))
  if (listed.length > 0) return list(listed)
  const near = nearCodes(
    code!,
    kinds.map(one => one.code),
  )
  throw new UserError(`unknown diagnostic code \`${code}\``, {
    hint:
      near.length > 0
        ? `did you mean ${near.map(one => `\`${one}\``).join(' or ')}?`
        : '`devctl explain` lists all codes',
  })
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
