import { catalogue } from '../../compiler/diagnostics/diagnostic.ts'
import { diagnosticPage, type ExplainedCode } from '../../compiler/diagnostics/document.ts'
import { suggest } from '../../compiler/diagnostics/suggest.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { explainedRefusals } from '../../platform/rules/refusal-pages.ts'

/** The page of a code, of a diagnostic or of an error of the platform; the list of a family's codes for its name; the list of all without one. */
export async function explainCode(code: string | undefined): Promise<string> {
  // The kinds are declared beside the code that reports them: the whole compiler must be there.
  await Promise.all([
    import('../../compiler/index.ts'),
    import('../../compiler/compose/build-spec.ts'),
    import('../../compiler/manifest/build-spec.ts'),
    import('../../compiler/manifest/read.ts'),
    import('../../compiler/manifest/automatic.ts'),
    import('../../operations/objects/failures.ts'),
    import('../../operations/commands/command-diagnostics.ts'),
    import('../../compiler/manifest/not-published.ts'),
    import('../../operations/build/official-names.ts'),
    import('../../operations/build/same-images.ts'),
    import('../../operations/build/planned-builds.ts'),
    import('../../operations/build/not-built.ts'),
    import('../../operations/build/confirm-images.ts'),
    import('../../operations/build/failed-step.ts'),
    import('../../operations/build/ssh-keys.ts'),
  ])
  const all: readonly ExplainedCode[] = [...catalogue.values(), ...explainedRefusals()]
  const kinds = all.toSorted((a, b) => (a.code < b.code ? -1 : 1))
  const kind = kinds.find(one => one.code === code)
  if (kind) return diagnosticPage(kind)

  const listed = code === undefined ? kinds : kinds.filter(one => one.code.startsWith(`${code.replace(/\/$/, '')}/`))
  if (listed.length > 0) return list(listed)
  const codes = kinds.map(one => one.code)
  const near =
    suggest(code!, codes) ??
    suggest(
      code!,
      codes.map(one => one.split('/')[0]!),
    )
  throw new UserError(`unknown diagnostic code \`${code}\``, {
    hint: near ? `did you mean \`${near}\`?` : '`devctl explain` lists all codes',
  })
}

function list(kinds: readonly ExplainedCode[]): string {
  const width = Math.max(...kinds.map(({ code }) => code.length))
  return kinds.map(({ code, severity }) => `${code.padEnd(width)}  ${severity}\n`).join('')
}
