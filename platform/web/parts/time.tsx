import { relativeTime } from '../state/relative-time.ts'
import { now } from '../state/time.ts'

/** Renders a time relative to now; the exact time is in the tooltip and in the `datetime` attribute. */
export function Time({ at }: { readonly at: string }) {
  const time = Date.parse(at)
  if (Number.isNaN(time)) return <span>{at}</span>
  return (
    // `now` is updated only twice a minute, so a time since its last update would look like a future time.
    <time dateTime={at} title={new Date(time).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'long' })}>
      {relativeTime(time, Math.max(now.value, Date.now()))}
    </time>
  )
}
