import { jsonText } from '../../compiler/values/printable.ts'
import type { ArtifactOutcome } from '../../operations/gitops/artifact/publish.ts'
import { changeLines, type MessageInput, subjectOf } from '../../operations/gitops/message.ts'
import type { Context } from '../command.ts'
import type { ArtifactDestination } from './artifact-destination.ts'
import type { CompiledForRepository } from './compile-for-repository.ts'
import type { Origin } from './facts.ts'
import { newerText, tellPlanned, unchangedText } from './outcome.ts'
import type { PublishValues } from './publish-values.ts'
import type { Published } from './published.ts'

/** What is known when an artifact is published. */
interface PublishedArtifact {
  readonly destination: ArtifactDestination
  readonly compiled: CompiledForRepository
  readonly origin: Origin
  readonly describe: Published['describe']
  /** Where something was pushed. */
  readonly message: MessageInput | undefined
}

/** Prints what has come out. Gives the exit status. */
export async function tellArtifact(
  context: Context,
  options: PublishValues,
  outcome: ArtifactOutcome,
  published: PublishedArtifact,
): Promise<number> {
  const { io } = context
  const { destination, message } = published
  const { name, reference, tag } = destination
  const print = (record: object, lines: readonly string[]) => {
    const json = () => jsonText({ reference, outcome: outcome.kind, ...record }, 2)
    io.stdout.write(`${options.output === 'json' ? json() : lines.join('\n')}\n`)
  }
  switch (outcome.kind) {
    case 'unchanged': {
      const { digest } = outcome
      print({ digest }, [unchangedText(reference, options, published), `${name}@${digest}`])
      return 0
    }
    case 'newer': {
      const { source, digest } = outcome
      print({ source, digest }, [newerText(reference, source, published)])
      return 0
    }
    case 'planned': {
      const { digest } = outcome
      const changes = outcome.changes.map(change => ({ ...change, path: reference }))
      const record = { reference, outcome: 'planned', digest }
      return tellPlanned(context, options, { place: reference, record, changes }, published)
    }
    case 'pushed': {
      const { before, pushed } = outcome
      const { digest, ownTag } = pushed
      const subject = subjectOf(message!)
      const objects = message!.files === undefined ? message!.changes : undefined
      const tags = [tag, ownTag]
      const lines = [subject, ...changeLines(message!), `${reference}@${digest}`]
      print({ digest, before, tags, subject, objects }, lines)
      return 0
    }
  }
}
