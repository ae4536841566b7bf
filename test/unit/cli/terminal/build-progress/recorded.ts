import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BuildEvent } from '../../../../../builds/events.ts'

/** An event, and the seconds after the first one at which it came. */
export interface Recorded {
  readonly time: number
  readonly event: BuildEvent
}

/** Returns the events that BuildKit 0.33 sent for a build; the texts of logs are in Latin-1, one character per byte. */
export function recorded(name: 'multi-stage' | 'cached' | 'failing' | 'two-at-once'): readonly Recorded[] {
  const text = readFileSync(join(import.meta.dirname, 'recorded', `${name}.jsonl`), 'utf8')
  return text
    .trim()
    .split('\n')
    .map(line => {
      const { time, ...event } = JSON.parse(line, (key, value) =>
        ['msg', 'short'].includes(key) ? Buffer.from(value, 'latin1') : value,
      )
      return { time, event }
    })
}
