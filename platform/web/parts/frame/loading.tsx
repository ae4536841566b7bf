import type { ComponentChildren } from 'preact'
import type { Read } from '../../state/resource.ts'
import { ProblemBox } from '../problem.tsx'

/** Renders placeholders in the size of the expected rows, so that nothing moves when the rows arrive. */
export const SkeletonRows = ({ rows = 3 }: { readonly rows?: number }) => (
  <div class="list" aria-busy="true">
    <span class="hidden" role="status">
      Loading
    </span>
    {Array.from({ length: rows }, (_, index) => (
      <div class="row skeleton-row" key={index}>
        <span class="skeleton w-s" />
        <span class="skeleton w-m" />
      </div>
    ))}
  </div>
)

/**
 * Renders the data, or the skeleton until it is loaded, or the reason why it cannot be loaded. Renders both the data
 * and the reason if newer data cannot be loaded.
 */
export function Loading<T>({
  of,
  skeleton,
  children,
}: {
  readonly of: Read<T>
  readonly skeleton?: ComponentChildren
  readonly children: (data: T) => ComponentChildren
}) {
  const { data, problem } = of.state.value
  // The shell reports other problems (an ended session, a platform that does not answer) once for the whole page.
  const refusal = problem?.kind === 'refused' && <ProblemBox problem={problem} onRetry={() => void of.refresh()} />
  if (data !== undefined)
    return (
      <>
        {refusal}
        {children(data)}
      </>
    )
  return <>{refusal || (skeleton ?? <SkeletonRows />)}</>
}
