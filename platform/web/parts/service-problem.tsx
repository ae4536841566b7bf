import { printable } from '../../../compiler/values/printable.ts'
import type { ServiceProblem, ShownDeploy } from '../../api/environments.ts'
import { linePage } from '../state/forge-pages.ts'
import { Place } from './deployed.tsx'
import { Icon } from './icon.tsx'
import { InlineCode } from './problem.tsx'

interface ServiceProblemProps {
  readonly problem: ServiceProblem
  readonly deployed: ShownDeploy | undefined
  /** Name of the service, and the URL of its log. */
  readonly logs?: readonly [service: string, address: string]
}

/** Shows a problem as `deploy` describes it, with its line in the Compose file. */
export function ServiceProblemBox({ problem, deployed, logs }: ServiceProblemProps) {
  const { code, message, notes, hint, place } = problem
  const lines = notes.filter(one => one.startsWith('| ')).map(one => one.slice(2))
  return (
    <article class="diagnostic">
      <Icon name="warn" />
      <div class="stack tight">
        <p class="strong">
          <InlineCode text={message} />
        </p>
        <p class="diagnostic-place">
          <code>{printable(code)}</code>
          {place && <Place place={place} page={deployed && linePage(deployed, place)} />}
        </p>
        {notes
          .filter(one => !one.startsWith('| '))
          .map(note => (
            <p class="soft" key={note}>
              <InlineCode text={note} />
            </p>
          ))}
        {lines.length > 0 && (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a long line is scrolled, by keyboard too
          // biome-ignore lint/a11y/useSemanticElements: it is no form
          <pre class="diagnostic-log" tabIndex={0} role="group" aria-label="Last lines of the log">
            {lines.map(printableLine).join('\n')}
          </pre>
        )}
        {hint !== undefined && (
          <p class="soft">
            <span class="strong">Help: </span>
            <InlineCode text={hint} />
          </p>
        )}
      </div>
      {logs && (
        <a class="button plain" href={logs[1]}>
          <Icon name="list" />
          <span>
            Logs<span class="hidden"> of {logs[0]}</span>
          </span>
        </a>
      )}
    </article>
  )
}

/** Escapes a line of a log, except for its tabs. */
const printableLine = (line: string): string => line.split('\t').map(printable).join('\t')
