import { dismiss, toasts } from '../../state/toasts.ts'
import { Icon } from '../icon.tsx'

/** Shows recent messages in the corner. Screen readers announce them, and they disappear on their own. */
export const Toasts = () => (
  <div class="toasts" role="status">
    {toasts.value.map(({ id, tone, text, hint }) => (
      <div key={id} class={`toast tone-${tone}`}>
        <Icon name={tone === 'good' ? 'check' : 'warn'} />
        <div>
          <p>{text}</p>
          {hint !== undefined && <p class="soft">{hint}</p>}
        </div>
        <button type="button" class="copy" aria-label="Dismiss" onClick={() => dismiss(id)}>
          <Icon name="cross" size={14} />
        </button>
      </div>
    ))}
  </div>
)
