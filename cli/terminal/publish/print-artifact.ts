import { jsonText } from '../../../compiler/values/printable.ts'
import type { RegistryOutcome } from '../../../gitops/publish/outcome.ts'
import type { Context } from '../../command.ts'
import { newerText, printPlanned, type ResultOptions, unchangedText } from './print-planned.ts'

/** Prints the result of a publish to a registry. Returns the exit status. */
export async function printArtifact(
  context: Context,
  options: ResultOptions,
  outcome: RegistryOutcome,
): Promise<number> {
  const { io } = context
  const { name, reference, tag } = outcome
  const print = (record: object, lines: readonly string[]) => {
    const json = () => jsonText({ reference, outcome: outcome.kind, ...record }, 2)
    io.stdout.write(`${options.output === 'json' ? json() : lines.join('\n')}\n`)
  }
  switch (outcome.kind) {
    case 'unchanged': {
      const { digest } = outcome
      print({ digest }, [unchangedText(reference, options, outcome), `${name}@${digest}`])
      return 0
    }
    case 'newer': {
      const { newer: source, digest } = outcome
      print({ source, digest }, [newerText(reference, source, outcome)])
      return 0
    }
    case 'planned': {
      const { digest, change, newer } = outcome
      const record = { reference, outcome: 'planned', digest }
      return printPlanned(context, options, { place: reference, record, change, newer }, outcome)
    }
    case 'pushed': {
      const { before, digest, ownTag, subject, objects, lines } = outcome
      const record = { digest, before, tags: [tag, ownTag], subject, objects }
      print(record, [subject, ...lines, `${reference}@${digest}`])
      return 0
    }
  }
}
