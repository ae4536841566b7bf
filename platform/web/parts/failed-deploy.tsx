import type { FailedDeploy } from '../../api/environments.ts'
import { addressOf } from '../../api/pages.ts'
import { InlineCode } from './problem.tsx'

/** Tells in a line that the last deploy failed, and why. It leads to the run, which opens at its errors. */
export const FailedDeployLine = ({ failed: { run, environment, reason } }: { readonly failed: FailedDeploy }) => (
  <>
    <a class="link over" href={addressOf('run', { id: run })}>
      The last deploy of {environment} failed
    </a>
    {reason !== undefined && (
      <>
        : <InlineCode text={reason} />
      </>
    )}
  </>
)
