import type { FailedDeploy } from '../../api/environments.ts'
import { addressOf } from '../../api/pages.ts'
import { Icon } from './icon.tsx'
import { InlineCode } from './problem.tsx'

interface FailedDeployProps {
  readonly failed: FailedDeploy
  /** The version from before that deploy is still ready. */
  readonly isPreviousRunning: boolean
}

/** Tells in a line that the last deploy failed, and why. It leads to the run, which opens at its errors. */
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

/** Tells it in a box. */
export const FailedDeployBox = (props: FailedDeployProps) => (
  <div class="problem" role="status">
    <Icon name="warn" />
    <p>
      <FailedDeployLine {...props} />
    </p>
  </div>
)
