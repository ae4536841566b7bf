import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import type { Namespace } from '../../../api/namespaces.ts'
import { addressOf } from '../../../api/pages.ts'
import { useResource } from '../../state/resource.ts'
import { isAdmin, isExpired, isOffline, logout, me, platformHost } from '../../state/session.ts'
import { dismiss, toasts } from '../../state/toasts.ts'
import { LoginAgain } from '../forms/login-again.tsx'
import { Icon, type IconName, Mark } from '../icon.tsx'
import { AskTogether, areAsked, isAsked, runningIn, stateOfNamespace } from '../namespace-state.tsx'
import { Avatar } from '../person.tsx'
import { namespaceState, type ShownState } from '../state.tsx'
import { ADMINISTRATION, NAVIGATION, type NavigationPage } from './navigation.ts'
import { openPalette } from './palette.tsx'

/** Renders the frame of all pages for a user who is logged in. */
export function Shell({ children }: { readonly children: ComponentChildren }) {
  const isMenuOpen = useSignal(false)
  const { path } = useLocation()
  useEffect(() => {
    isMenuOpen.value = false
  }, [path])
  return (
    <div class={isMenuOpen.value ? 'shell menu-open' : 'shell'}>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="bar">
        <a class="brand" href="/">
          <Mark />
          <span>devctl</span>
        </a>
        <button type="button" class="button ghost only-icon" aria-label="Search" onClick={openPalette}>
          <Icon name="search" />
        </button>
        <button
          type="button"
          class="button ghost only-icon"
          aria-label="Menu"
          aria-expanded={isMenuOpen.value}
          aria-controls="side"
          onClick={() => {
            isMenuOpen.value = !isMenuOpen.value
          }}
        >
          <Icon name={isMenuOpen.value ? 'cross' : 'menu'} />
        </button>
      </header>
      <Side />
      <div class="content">
        <Notices />
        <main id="main" tabIndex={-1}>
          {children}
        </main>
      </div>
      <Toasts />
    </div>
  )
}

function Side() {
  const user = me.value
  if (!user) return null
  return (
    <aside class="side" id="side">
      <a class="brand" href="/">
        <Mark />
        <span class="brand-text">
          devctl
          <span class="soft">{platformHost.value}</span>
        </span>
      </a>
      <button type="button" class="search" onClick={openPalette} aria-keyshortcuts="/ Control+K">
        <Icon name="search" />
        <span>Search</span>
        <kbd>/</kbd>
      </button>
      <nav aria-label="Pages">
        <SideLinks pages={NAVIGATION} />
      </nav>
      <Lists />
      <div class="side-end">
        <a class="side-link you" href={addressOf('you')} aria-current={currentPart(addressOf('you'))}>
          <Avatar person={user} size="s" />
          <span class="cut">{user.name ?? user.login}</span>
          {user.role === 'admin' && <span class="soft">admin</span>}
        </a>
        <button type="button" class="button ghost only-icon" aria-label="Log out" title="Log out" onClick={logout}>
          <Icon name="out" />
        </button>
      </div>
    </aside>
  )
}

/** Maximum number of namespaces in the sidebar; the search finds the others. */
const SHOWN = 12
/**
 * Delay before the first request for the content of the namespaces in the sidebar, and its polling interval, in
 * milliseconds.
 */
const LATER = 1_000
const EVERY = 60_000

function Lists() {
  const { data, problem } = useResource('GET /namespaces', {}).state.value
  // Renders both lists together, so that the second one does not move when the first one is loaded.
  if (!data && !problem) return null
  return (
    <>
      <Namespaces all={data?.items ?? []} />
      {isAdmin.value && (
        <nav aria-labelledby="side-admin">
          <h2 id="side-admin">Administration</h2>
          <SideLinks pages={ADMINISTRATION} />
        </nav>
      )}
    </>
  )
}

function Namespaces({ all }: { readonly all: readonly Namespace[] }) {
  const own = all.filter(({ role }) => role !== undefined)
  const shown = own.slice(0, SHOWN)
  const asked = shown.filter(isAsked).map(({ name }) => name)
  /**
   * True if the sidebar requests the content of its namespaces itself. At first, it relies on the requests of the page,
   * as long as they include all namespaces in the sidebar.
   */
  const isLater = useSignal(false)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>
    const look = () => {
      if (areAsked(asked)) timer = setTimeout(look, EVERY)
      else isLater.value = true
    }
    timer = setTimeout(look, LATER)
    return () => clearTimeout(timer)
  }, [asked.join()])
  if (own.length === 0) return null
  return (
    <nav aria-labelledby="side-namespaces">
      <h2 id="side-namespaces">Namespaces</h2>
      {isLater.value && asked.length > 0 && <AskTogether names={asked} every={EVERY} />}
      {shown.map(one => (
        <NamespaceLink key={one.name} name={one.name} state={shownState(one)} />
      ))}
      {own.length > SHOWN && (
        <a class="side-link soft" href={addressOf('home')}>
          {own.length - SHOWN} more
        </a>
      )}
    </nav>
  )
}

/** Neutral state, so that a namespace is not green before it is known that nothing is wrong. */
const UNKNOWN: ShownState = { tone: 'quiet', icon: 'ring', word: 'loading' }

/** Returns the state of a namespace from its content, so that a problem is visible on every page. */
function shownState(one: Namespace): ShownState {
  if (!isAsked(one)) return namespaceState(one.status)
  const running = runningIn(one.name)
  return running ? stateOfNamespace(one.status, running) : UNKNOWN
}

function NamespaceLink({ name, state: { tone, word } }: { readonly name: string; readonly state: ShownState }) {
  const href = addressOf('namespace', { ns: name })
  return (
    <a class="side-link" href={href} aria-current={currentPart(href)}>
      <span class={`dot tone-${tone}`} title={word} aria-hidden="true" />
      <span class="cut">{name}</span>
      {tone !== 'good' && <span class="hidden">, {word}</span>}
    </a>
  )
}

/** Renders links to pages in the sidebar. Skips pages without an icon, which have no link there. */
const SideLinks = ({ pages }: { readonly pages: readonly NavigationPage[] }) => (
  <>{pages.map(one => one.icon && <SideLink key={one.href} {...one} icon={one.icon} />)}</>
)

const SideLink = ({ href, icon, text, short = text }: NavigationPage & { readonly icon: IconName }) => (
  <a class="side-link" href={href} aria-current={currentPart(href)}>
    <Icon name={icon} />
    <span>{short}</span>
  </a>
)

/** Returns the `aria-current` of a link: `page` for the current page, `true` for a parent page. */
function currentPart(address: string): 'page' | 'true' | undefined {
  const { path } = useLocation()
  if (path === address) return 'page'
  return address !== '/' && path.startsWith(`${address}/`) ? 'true' : undefined
}

/** Renders notices that concern the whole page: no connection, or a session that has ended. */
const Notices = () => (
  <div class="notices" aria-live="polite">
    {isExpired.value && (
      <p class="notice tone-warn">
        <Icon name="lock" />
        <span>Your session has ended. Nothing on this page is lost.</span>
        <LoginAgain />
      </p>
    )}
    {isOffline.value && !isExpired.value && (
      <p class="notice tone-warn">
        <Icon name="spin" />
        <span>The platform cannot be reached. This page may be out of date. Retrying every few seconds.</span>
      </p>
    )}
  </div>
)

/** Shows recent messages in the corner. Screen readers announce them, and they disappear on their own. */
const Toasts = () => (
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
