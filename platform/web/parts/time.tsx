import { relativeTime } from '../state/relative-time.ts'
import { now } from '../state/time.ts'

/** A moment, as people say it; the exact one is told on hover, and to programs. */
export function Time({ at }: { readonly at: string }) {
  const time = Date.parse(at)
  if (Number.isNaN(time)) return <span>{at}</span>
  return (
    <time dateTime={at} title={new Date(time).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'long' })}>
      {relativeTime(time, now.value)}
    </time>
  )
}
