import type { TokenInfo } from '../../../api/me.ts'
import { Command } from '../../parts/copy.tsx'
import { Button } from '../../parts/forms/button.tsx'
import { Loading } from '../../parts/frame/loading.tsx'
import { Section } from '../../parts/frame/page.tsx'
import { Icon, type IconName } from '../../parts/icon.tsx'
import { Avatar } from '../../parts/person.tsx'
import { Tag } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'
import { useResource } from '../../state/resource.ts'
import { logout, me } from '../../state/session.ts'
import { chooseTheme, type Theme, theme } from '../../state/theme.ts'
import { DeleteToken } from './delete-token.tsx'
import { YouFrame } from './frame.tsx'

/** Shows the user's profile, their logins, and the theme of the pages. */
export function Account() {
  const tokens = useResource('GET /me/tokens', {})
  const user = me.value
  if (!user) return null
  return (
    <YouFrame part="Account">
      <Section title="Profile">
        <div class="card who">
          <Avatar person={user} size="l" />
          <div>
            <p class="strong">{user.name ?? user.login}</p>
            <p class="soft">
              {user.name !== undefined && `${user.login} · `}
              {user.email !== undefined && `${user.email} · `}
              {user.role === 'admin' ? 'administrator' : 'developer'}
            </p>
          </div>
          <Button icon="out" onClick={logout}>
            Log out
          </Button>
        </div>
      </Section>
      <Section
        title="Sessions"
        about="Where you are logged in. When you end a session, it loses access to the cluster, too, within seconds."
      >
        <Loading of={tokens}>
          {({ items }) => (
            <ul class="list">
              {items.filter(isSession).map(one => (
                <SessionRow key={one.id} token={one} onDeleted={() => void tokens.refresh()} />
              ))}
            </ul>
          )}
        </Loading>
      </Section>
      <Section title="kubectl" about="Adds the cluster to your kubeconfig. The file does not contain a token.">
        <Command lines={[`devctl context use ${location.origin}`, 'devctl kubeconfig']} />
      </Section>
      <Section title="Appearance">
        <fieldset class="choices">
          <legend class="hidden">Theme</legend>
          {THEMES.map(([value, icon, text]) => (
            <label key={value} class="choice">
              <input
                type="radio"
                name="theme"
                value={value}
                checked={theme.value === value}
                onChange={() => chooseTheme(value)}
              />
              <Icon name={icon} />
              <span>{text}</span>
            </label>
          ))}
        </fieldset>
      </Section>
    </YouFrame>
  )
}

const THEMES: readonly (readonly [Theme, IconName, string])[] = [
  ['system', 'screen', 'System'],
  ['light', 'sun', 'Light'],
  ['dark', 'moon', 'Dark'],
]

export const isSession = ({ kind }: TokenInfo): boolean => kind === 'session' || kind === 'cli'

function SessionRow({ token, onDeleted }: { readonly token: TokenInfo; readonly onDeleted: () => void }) {
  const { kind, label, created, expires, lastUse, isThis } = token
  return (
    <li>
      <div class="row">
        <Icon name={kind === 'cli' ? 'terminal' : 'screen'} />
        <span class="row-main block">
          <span class="strong">
            {label} {isThis && <Tag tone="good">this session</Tag>}
          </span>
          <span class="soft">
            Logged in <Time at={created} />
            {lastUse !== undefined && !isThis && (
              <>
                , last used <Time at={lastUse} />
              </>
            )}
            , expires <Time at={expires} />
          </span>
        </span>
        {!isThis && <DeleteToken token={token} word="End" onDeleted={onDeleted} />}
      </div>
    </li>
  )
}
