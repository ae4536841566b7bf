import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Span } from '../../text/source.ts'
import type { PlanContext } from '../context.ts'

const claimTaken = diagnostic({
  code: 'volumes/claim-taken',
  severity: 'error',
  explain: `Two different volumes must not get one claim, because one would have the data of the other. A claim is named after the \`name\` or the key of a volume, the path of a folder of your machine, or the service and path of an anonymous volume that \`volumes_from\` shares. Here two of these are equal. Set another name for one of the two; in place of a folder or an anonymous volume, mount a volume with a name.

\`\`\`yaml
volumes:
  cache:
    name: cache-data
\`\`\`

If both were deployed together before, one of them had a claim with a longer name, which the help of the error contains. A volume with this \`name\` has its data.`,
  text: (p: { what: string; claim: string; longer: string | undefined }) => ({
    message: `${p.what} cannot have the claim \`${p.claim}\`: another volume has it`,
    hint:
      'set another `name` for one of them in `volumes`, and mount that volume' +
      (p.longer === undefined ? '' : `; \`name: ${p.longer}\` has the data of this one if both were deployed before`),
  }),
})

/** A volume (named, anonymous, or for a host folder) whose claim belongs to another volume. */
interface Rival {
  /** Description for messages, such as `` the volume `data` ``. */
  readonly what: string
  readonly span: Span
  /** Name of the claim that the volume would have without the other volume. */
  readonly claim: string
  /** Name of the claim that the volume gets because of the other volume, if that name differs from `claim`. */
  readonly longer?: string
}

/** Reports that a volume cannot have its claim, because the volume at `other` has the claim. */
export function reportTaken({ reporter }: PlanContext, { what, span, claim, longer }: Rival, other: Span): void {
  const related = [{ span: other, message: 'the other one is here' }]
  reporter.report(claimTaken, span, { what, claim, longer: longer === claim ? undefined : longer }, related)
}
