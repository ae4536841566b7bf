import { printable } from '../../../../compiler/values/printable.ts'
import { Icon } from '../../parts/icon.tsx'
import { InlineCode, sentence } from '../../parts/problem.tsx'
import { plainText } from '../../state/ansi.ts'
import type { ReadLine } from '../../state/run-log.ts'

const shown = (text: string): string => printable(plainText(text))

/** Shows the errors of a failed run above its log, each with a link to its line in the log. */
export const Errors = ({ lines }: { readonly lines: readonly ReadLine[] }) =>
  lines.length === 0 ? null : (
    <section class="stack run-errors" aria-label="Errors">
      {lines.map(({ number, problem }) => (
        <div key={number} class="problem">
          <Icon name="warn" />
          <div class="stack tight">
            <p>
              <InlineCode text={sentence(shown(problem?.message ?? ''))} />
            </p>
            <p class="soft">
              {problem?.place !== undefined && (
                <>
                  <code>{shown(problem.place)}</code>,{' '}
                </>
              )}
              {problem?.code !== undefined && (
                <>
                  <code>{shown(problem.code)}</code>,{' '}
                </>
              )}
              <a class="link" href={`#L${number}`}>
                line {number} of the log
              </a>
            </p>
            {problem?.notes.map(note => (
              <p class="soft" key={note}>
                <InlineCode text={shown(note)} />
              </p>
            ))}
            {problem?.help !== undefined && (
              <p>
                <InlineCode text={sentence(shown(problem.help))} />
              </p>
            )}
          </div>
        </div>
      ))}
    </section>
  )
