import { STATE_WORDS, STATUS_WORDS } from '../../rules/runs/running.ts'
import { Icon, type IconName } from './icon.tsx'

/** Tone of a state; keeps icon, label and color consistent. */
export type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'quiet'

export interface ShownState {
  readonly tone: Tone
  readonly icon: IconName
  readonly word: string
}

const STATUSES: Readonly<Record<string, ShownState>> = {
  Active: { tone: 'quiet', icon: 'ring', word: STATUS_WORDS.Active },
  Deploying: { tone: 'busy', icon: 'spin', word: STATUS_WORDS.Deploying },
  Failed: { tone: 'bad', icon: 'warn', word: STATUS_WORDS.Failed },
  Sleeping: { tone: 'quiet', icon: 'moon', word: STATUS_WORDS.Sleeping },
  Waking: { tone: 'busy', icon: 'spin', word: STATUS_WORDS.Waking },
  Deleting: { tone: 'busy', icon: 'spin', word: STATUS_WORDS.Deleting },
  DeleteFailed: { tone: 'bad', icon: 'warn', word: STATUS_WORDS.DeleteFailed },
}

const STATES: Readonly<Record<string, ShownState>> = {
  ready: { tone: 'good', icon: 'check', word: STATE_WORDS.ready },
  complete: { tone: 'good', icon: 'check', word: 'Completed' },
  waiting: { tone: 'busy', icon: 'spin', word: STATE_WORDS.waiting },
  deploying: { tone: 'busy', icon: 'spin', word: STATE_WORDS.deploying },
  failed: { tone: 'bad', icon: 'warn', word: STATE_WORDS.failed },
  missing: { tone: 'warn', icon: 'ring', word: 'Missing' },
  asleep: { tone: 'quiet', icon: 'moon', word: STATE_WORDS.asleep },
  stopped: { tone: 'quiet', icon: 'ring', word: STATE_WORDS.stopped },
  empty: { tone: 'quiet', icon: 'ring', word: STATE_WORDS.empty },
}

const RUN_STATES: Readonly<Record<string, ShownState>> = {
  queued: { tone: 'quiet', icon: 'clock', word: 'Queued' },
  running: { tone: 'busy', icon: 'spin', word: 'Running' },
  stopping: { tone: 'busy', icon: 'spin', word: 'Stopping' },
  succeeded: { tone: 'good', icon: 'check', word: 'Succeeded' },
  failed: { tone: 'bad', icon: 'warn', word: 'Failed' },
  cancelled: { tone: 'quiet', icon: 'stop', word: 'Cancelled' },
  replaced: { tone: 'quiet', icon: 'stop', word: 'Replaced by a newer run' },
  refused: { tone: 'bad', icon: 'lock', word: 'Refused' },
}

/** Returns how a state is shown. An unknown state, perhaps of a newer platform, is shown with its own name. */
const stateIn = (table: Readonly<Record<string, ShownState>>, state: string): ShownState =>
  (Object.hasOwn(table, state) ? table[state] : undefined) ?? { tone: 'quiet', icon: 'ring', word: state }

/** Returns how the `status` of a namespace or a preview is shown. */
export const namespaceState = (status: string): ShownState => stateIn(STATUSES, status)

/** Returns how the `state` of a service or an environment is shown. */
export const workloadState = (state: string): ShownState => stateIn(STATES, state)

/** Returns how `state` is shown, with the text `word` instead of the usual text of the state. */
export const standingState = ({ state, word }: { readonly state: string; readonly word: string }): ShownState => ({
  ...stateIn({ ...STATUSES, ...STATES }, state),
  word,
})

/** Returns how the `state` of a run is shown. */
export const runState = (state: string): ShownState => stateIn(RUN_STATES, state)

/** Renders a state within a line of text. */
export const State = ({ tone, icon, word }: ShownState) => (
  <span class={`state tone-${tone}`}>
    <span class="state-icon">
      <Icon name={icon} size={12} />
    </span>
    {word}
  </span>
)

/** Renders a short label next to a name. */
export const Tag = ({ tone = 'quiet', children }: { readonly tone?: Tone; readonly children: string }) => (
  <span class={`tag tone-${tone}`}>{children}</span>
)
