import { Icon, type IconName } from './icon.tsx'

/** How something is, so that icon, word and colour say the same. */
export type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'quiet'

export interface ShownState {
  readonly tone: Tone
  readonly icon: IconName
  readonly word: string
}

const NAMESPACE_STATES: Readonly<Record<string, ShownState>> = {
  // Awake, which says nothing of what runs there.
  Active: { tone: 'quiet', icon: 'ring', word: 'Active' },
  Sleeping: { tone: 'quiet', icon: 'moon', word: 'Asleep' },
  Waking: { tone: 'busy', icon: 'spin', word: 'Waking' },
  Deleting: { tone: 'busy', icon: 'spin', word: 'Deleting' },
  DeleteFailed: { tone: 'bad', icon: 'warn', word: 'Delete failed' },
}

const PREVIEW_STATES: Readonly<Record<string, ShownState>> = {
  ...NAMESPACE_STATES,
  Active: { tone: 'good', icon: 'check', word: 'Active' },
  Deploying: { tone: 'busy', icon: 'spin', word: 'Deploying' },
  Failed: { tone: 'bad', icon: 'warn', word: 'Deploy failed' },
}

const WORKLOAD_STATES: Readonly<Record<string, ShownState>> = {
  ready: { tone: 'good', icon: 'check', word: 'Ready' },
  complete: { tone: 'good', icon: 'check', word: 'Completed' },
  waiting: { tone: 'busy', icon: 'spin', word: 'Starting' },
  failed: { tone: 'bad', icon: 'warn', word: 'Problem' },
  missing: { tone: 'warn', icon: 'ring', word: 'Missing' },
  empty: { tone: 'quiet', icon: 'ring', word: 'Nothing running' },
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

/** A state that no table has is shown by its own word: a newer platform may have more. */
const stateIn = (table: Readonly<Record<string, ShownState>>, state: string): ShownState =>
  (Object.hasOwn(table, state) ? table[state] : undefined) ?? { tone: 'quiet', icon: 'ring', word: state }

/** What `status` of a namespace means for people. */
export const namespaceState = (status: string): ShownState => stateIn(NAMESPACE_STATES, status)

/** What `status` of a preview means for people. */
export const previewState = (status: string): ShownState => stateIn(PREVIEW_STATES, status)

/** What `state` of a service or an environment means for people. */
export const workloadState = (state: string): ShownState => stateIn(WORKLOAD_STATES, state)

/** What `state` of a run means for people. */
export const runState = (state: string): ShownState => stateIn(RUN_STATES, state)

/** A state in a line of text. */
export const State = ({ tone, icon, word }: ShownState) => (
  <span class={`state tone-${tone}`}>
    <span class="state-icon">
      <Icon name={icon} size={12} />
    </span>
    {word}
  </span>
)

/** A small word beside a name. */
export const Tag = ({ tone = 'quiet', children }: { readonly tone?: Tone; readonly children: string }) => (
  <span class={`tag tone-${tone}`}>{children}</span>
)
