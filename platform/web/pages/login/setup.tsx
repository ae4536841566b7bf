import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { PAGES } from '../../../api/pages.ts'
import { LOGIN } from '../../../rules/accounts/login-name.ts'
import { Button } from '../../parts/forms/button.tsx'
import { Field } from '../../parts/forms/field.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { SessionProblem } from '../../parts/session-problem.tsx'
import { useAction } from '../../state/action.ts'
import { platform } from '../../state/client.ts'
import { info, me, useSession } from '../../state/session.ts'
import { Frame } from './frame.tsx'
import { Providers } from './providers.tsx'

const NAME = new RegExp(LOGIN)

/**
 * Shows the page of a link from the installer or an administrator. The token of the link is in the URL fragment, which
 * browsers do not send to the server, and is removed from the URL immediately. The user has to press a button, because
 * programs that open links in mails would otherwise use up the token.
 */
export function Setup() {
  const token = useSignal<string | undefined>(undefined)
  const name = useSignal('')
  useEffect(() => {
    const found = /^#(devctl_(?:setup|invite)_\w+)$/.exec(location.hash)?.[1]
    if (location.hash !== '') history.replaceState(null, '', location.pathname)
    token.value = found ?? keptToken() ?? ''
  }, [])
  const session = useSession()
  const isSetup = token.value?.startsWith('devctl_setup_') ?? false
  const providers = info.value?.login ?? []
  const claim = useAction(async () => {
    await platform.call('POST /auth/claim', { body: { token: token.value ?? '' } })
    location.replace('/')
  })
  const enter = useAction(async () => {
    // An invitation contains the name of the invited user.
    const login = isSetup ? name.value : 'invited'
    await platform.call('POST /auth/setup', { body: { token: token.value ?? '', login } })
    // Loads a new page, so that neither this page nor its token stays in memory.
    location.replace('/')
  })
  if (token.value === undefined) return null
  if (token.value === '')
    return (
      <Frame title="This link is incomplete">
        <p class="soft">
          It should end with a token that starts with devctl_setup_ or devctl_invite_. Open the full link.
        </p>
      </Frame>
    )
  const title = isSetup ? 'Set up the platform' : 'You are invited'
  if (me.value === undefined)
    return (
      <Frame title={session.problem.value ? title : 'One moment…'}>
        <SessionProblem of={session} />
      </Frame>
    )
  if (isSetup && me.value)
    return (
      <Frame title={title}>
        <p class="soft">{me.value.login} will be the first administrator. This link works only once.</p>
        {claim.problem && <ProblemBox problem={claim.problem} />}
        <Button look="solid" isBusy={claim.isRunning} onClick={() => void claim.run()}>
          Become administrator
        </Button>
      </Frame>
    )
  if (isSetup && providers.length > 0)
    return (
      <Frame title={title}>
        <p class="soft">Log in, and your account becomes the first administrator. This link works only once.</p>
        <Providers back={PAGES.setup} onLeave={() => keepToken(token.value ?? '')} />
      </Frame>
    )
  const isName = NAME.test(name.value)
  return (
    <Frame title={title}>
      <form
        class="stack"
        onSubmit={event => {
          event.preventDefault()
          if (!isSetup || isName) void enter.run()
        }}
      >
        {isSetup ? (
          <>
            <p class="soft">You will be the first administrator. This link works only once.</p>
            <Field
              label="Username"
              hint="Letters, digits, dashes and dots. Your personal namespace gets the same name."
              error={
                name.value !== '' && !isName
                  ? 'Start with a letter or digit; no spaces; up to 39 characters'
                  : undefined
              }
              value={name.value}
              onValue={value => {
                name.value = value
              }}
              autocomplete="username"
              required
            />
          </>
        ) : (
          <p class="soft">Log in with your invitation. This link works only once, and you stay logged in here.</p>
        )}
        {enter.problem && <ProblemBox problem={enter.problem} />}
        <Button type="submit" look="solid" isBusy={enter.isRunning} disabled={isSetup && !isName}>
          {isSetup ? 'Become administrator' : 'Log in'}
        </Button>
      </form>
    </Frame>
  )
}

const KEPT = 'setup'

/** Stores the token in this tab during the redirect to a provider and back. It is removed when it is read. */
const keepToken = (token: string) => sessionStorage.setItem(KEPT, token)

function keptToken(): string | undefined {
  const kept = sessionStorage.getItem(KEPT) ?? undefined
  sessionStorage.removeItem(KEPT)
  return kept
}
