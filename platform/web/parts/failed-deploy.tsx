import type { FailedDeploy } from '../../api/environments.ts'
import { addressOf } from '../../api/pages.ts'
import { Icon } from './icon.tsx'
import { InlineCode } from './problem.tsx'

interface FailedDeployProps {
  readonly failed: FailedDeploy
  /** True if the previously deployed version is still ready. */
  readonly isPreviousRunning: boolean
}

/**
 * Renders in one line that the last deploy failed, and the reason. It links to the run, whose page opens at its errors.
 */
export const FailedDeployLine = ({ failed: { run, environment, reason }, isPreviousRunning }: FailedDeployProps) => (
  <>
    <a class="link over" href={addressOf('run', { id: run })}>
      The last deploy of {environment} failed
    </a>
    {isPreviousRunning && ', and the previous version runs'}
    {reason !== undefined && (
      <>
        : <InlineCode text={reason} />
      </>
    )}
  </>
)

/** Renders the line about a failed deploy in a box. */
export const FailedDeployBox = (props: FailedDeployProps) => (
  <div class="problem" role="status">
    <Icon name="warn" />
    <p>
      <FailedDeployLine {...props} />
    </p>
  </div>
)
