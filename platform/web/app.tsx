import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { ErrorBoundary } from 'preact-iso/lazy'
import { LocationProvider, Route, Router, useLocation } from 'preact-iso/router'
import { PAGES } from '../api/pages.ts'
import { Environment } from './pages/environment/environment.tsx'
import { Home } from './pages/home.tsx'
import { CliLogin } from './pages/login/cli.tsx'
import { DeviceLogin } from './pages/login/device.tsx'
import { Login } from './pages/login/login.tsx'
import { Setup } from './pages/login/setup.tsx'
import { Members } from './pages/namespace/members.tsx'
import { NamespaceOverview } from './pages/namespace/overview.tsx'
import { NamespaceRuns } from './pages/namespace/runs.tsx'
import { NamespaceSettings } from './pages/namespace/settings.tsx'
import { NotFound } from './pages/not-found.tsx'
import { Account } from './pages/you/account.tsx'
import { laterPage, laterPart } from './parts/frame/later.tsx'
import { isHelpOpen, listenForPalette, Palette } from './parts/frame/palette.tsx'
import { Shell } from './parts/frame/shell.tsx'
import { SessionProblem } from './parts/session-problem.tsx'
import { navigate } from './state/navigate.ts'
import { refreshAll } from './state/resource.ts'
import { isExpired, me, resumeSession, useSession } from './state/session.ts'

/** Pages whose code is only loaded when the user opens one of them. */
const NamespaceVariables = laterPage(async () => (await import('./pages/namespace/variables.tsx')).NamespaceVariables)
const Tokens = laterPage(async () => (await import('./pages/you/tokens.tsx')).Tokens)
const YourVariables = laterPage(async () => (await import('./pages/you/variables.tsx')).YourVariables)
const EverybodysVariables = laterPage(async () => (await import('./pages/admin/variables.tsx')).EverybodysVariables)
const Users = laterPage(async () => (await import('./pages/admin/users.tsx')).Users)
const Overview = laterPage(async () => (await import('./pages/admin/overview.tsx')).Overview)
const Analytics = laterPage(async () => (await import('./pages/admin/analytics.tsx')).Analytics)
const PlatformSettings = laterPage(async () => (await import('./pages/admin/settings.tsx')).PlatformSettings)
const Webhooks = laterPage(async () => (await import('./pages/webhooks/webhooks.tsx')).Webhooks)
const Previews = laterPage(async () => (await import('./pages/previews.tsx')).Previews)
const RunPage = laterPage(async () => (await import('./pages/run/run.tsx')).RunPage)

const KeyHelp = laterPart(
  async () => (await import('./parts/frame/key-help.tsx')).KeyHelp,
  () => null,
)

/** The complete UI. Users who are logged in see the page of the URL, others the login page. */
export const App = () => (
  <LocationProvider>
    <ErrorBoundary>
      <Everything />
    </ErrorBoundary>
  </LocationProvider>
)

function Everything() {
  const { path } = useLocation()
  switch (path) {
    case PAGES.login:
      return <Login />
    case PAGES.setup:
      return <Setup />
    case PAGES.cli:
      return <LoggedIn>{() => <CliLogin />}</LoggedIn>
    case PAGES.device:
      return <LoggedIn>{() => <DeviceLogin />}</LoggedIn>
    default:
      return <LoggedIn>{() => <Inside />}</LoggedIn>
  }
}

const Inside = () => (
  <Shell>
    <Router>
      <Route path={PAGES.home} component={Home} />
      <Route path={PAGES.namespace} component={NamespaceOverview} />
      <Route path={PAGES.environment} component={Environment} />
      <Route path={PAGES.service} component={Environment} />
      <Route path={PAGES.serviceProblems} component={Environment} />
      <Route path={PAGES.serviceEvents} component={Environment} />
      <Route path={PAGES.serviceSettings} component={Environment} />
      <Route path={PAGES.runs} component={NamespaceRuns} />
      <Route path={PAGES.run} component={RunPage} />
      <Route path={PAGES.previews} component={Previews} />
      <Route path={PAGES.webhooks} component={Webhooks} />
      <Route path={PAGES.variables} component={NamespaceVariables} />
      <Route path={PAGES.members} component={Members} />
      <Route path={PAGES.settings} component={NamespaceSettings} />
      <Route path={PAGES.you} component={Account} />
      <Route path={PAGES.tokens} component={Tokens} />
      <Route path={PAGES.yourVariables} component={YourVariables} />
      <Route path={PAGES.everybodysVariables} component={EverybodysVariables} />
      <Route path={PAGES.overview} component={Overview} />
      <Route path={PAGES.users} component={Users} />
      <Route path={PAGES.analytics} component={Analytics} />
      <Route path={PAGES.platformSettings} component={PlatformSettings} />
      <Route default component={NotFound} />
    </Router>
    <Keys />
  </Shell>
)

function Keys() {
  useEffect(listenForPalette, [])
  useEffect(() => {
    const seen = async () => {
      if (document.visibilityState === 'visible' && isExpired.value && (await resumeSession())) refreshAll()
    }
    document.addEventListener('visibilitychange', seen)
    addEventListener('focus', seen)
    return () => {
      document.removeEventListener('visibilitychange', seen)
      removeEventListener('focus', seen)
    }
  }, [])
  return (
    <>
      <Palette />
      {isHelpOpen.value && (
        <KeyHelp
          onClose={() => {
            isHelpOpen.value = false
          }}
        />
      )}
    </>
  )
}

/**
 * Shows the content to users who are logged in. Sends other users to the login page, which returns to this page after
 * the login.
 */
function LoggedIn({ children }: { readonly children: () => ComponentChildren }) {
  const session = useSession(undefined, !me.peek())
  const { url } = useLocation()
  useEffect(() => {
    if (me.value === null) navigate(`/login?to=${encodeURIComponent(url)}`)
  }, [me.value])
  if (me.value) return <>{children()}</>
  return (
    <div class="centre">
      <SessionProblem of={session} />
    </div>
  )
}
