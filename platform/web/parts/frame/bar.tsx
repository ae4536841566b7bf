import type { Tone } from '../state.tsx'

/** Renders a share of a maximum as a bar; the number itself is next to it. */
export const Bar = ({ share, tone }: { readonly share: number; readonly tone?: Tone | undefined }) => (
  <span class={tone === undefined ? 'meter' : `meter tone-${tone}`} aria-hidden="true">
    <span class="meter-fill" style={{ width: `${Math.round(Math.min(1, Math.max(0, share)) * 100)}%` }} />
  </span>
)
