import { Icon, type IconName } from './icon.tsx'

/** How something is, so that icon, word and colour say the same. */
export type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'quiet'

export interface ShownState {
  readonly tone: Tone
  readonly icon: IconName
  readonly word: string
}

/** What `status` of a namespace means for people. */
export function namespaceState(status: string): ShownState {
  switch (status) {
    case 'Active':
      return { tone: 'good', icon: 'check', word: 'Active' }
    case 'Sleeping':
      return { tone: 'quiet', icon: 'moon', word: 'Asleep' }
    case 'Waking':
      return { tone: 'busy', icon: 'spin', word: 'Waking' }
    case 'Deleting':
      return { tone: 'busy', icon: 'spin', word: 'Being deleted' }
    case 'DeleteFailed':
      return { tone: 'bad', icon: 'warn', word: 'Delete failed' }
    default:
      return { tone: 'quiet', icon: 'ring', word: status }
  }
}

/** What `state` of a service or an environment means for people. */
export function workloadState(state: string): ShownState {
  switch (state) {
    case 'ready':
      return { tone: 'good', icon: 'check', word: 'Ready' }
    case 'complete':
      return { tone: 'good', icon: 'check', word: 'Completed' }
    case 'waiting':
      return { tone: 'busy', icon: 'spin', word: 'Starting' }
    case 'failed':
      return { tone: 'bad', icon: 'warn', word: 'Problem' }
    case 'missing':
      return { tone: 'warn', icon: 'ring', word: 'Missing' }
    case 'empty':
      return { tone: 'quiet', icon: 'ring', word: 'Nothing runs' }
    default:
      return { tone: 'quiet', icon: 'ring', word: state }
  }
}

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
