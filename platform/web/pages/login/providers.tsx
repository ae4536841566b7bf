import { Icon } from '../../parts/icon.tsx'
import { info } from '../../state/session.ts'

interface ProvidersProps {
  /** Path of the page to show after the login. */
  readonly back: string
  readonly onLeave?: () => void
}

/**
 * Renders a button for each provider. A button opens a page of the server, which redirects the browser to the provider.
 */
export const Providers = ({ back, onLeave }: ProvidersProps) => (
  <>
    {info.value?.login.map(({ id, name }) => (
      <a
        key={id}
        class="button solid big"
        href={`/login/${encodeURIComponent(id)}?to=${encodeURIComponent(back)}`}
        onClick={event => {
          // Keeps the click from the router, which has no such page.
          event.stopPropagation()
          onLeave?.()
        }}
      >
        <span>Log in with {name}</span>
        <Icon name="right" />
      </a>
    ))}
  </>
)
