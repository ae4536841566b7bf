import { Icon } from '../../parts/icon.tsx'
import { info } from '../../state/session.ts'

interface ProvidersProps {
  /** The page that is shown after the login. */
  readonly back: string
  readonly onLeave?: () => void
}

/** A button for each provider. It opens a page of the server, which sends the browser there. */
export const Providers = ({ back, onLeave }: ProvidersProps) => (
  <>
    {info.value?.login.map(({ id, name }) => (
      <a
        key={id}
        class="button solid big"
        href={`/login/${encodeURIComponent(id)}?to=${encodeURIComponent(back)}`}
        onClick={event => {
          // The router, which listens further up, has no such page.
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
