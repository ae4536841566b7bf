import { useSignal } from '@preact/signals'
import { useLocation } from 'preact-iso/router'
import { printable } from '../../../../compiler/values/printable.ts'
import { Button, ButtonLink } from '../../parts/forms/button.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { useAction } from '../../state/action.ts'
import { platform } from '../../state/client.ts'
import { me } from '../../state/session.ts'
import { Frame } from './frame.tsx'

/**
 * Renders the page that logs in devctl on the command line of this machine. The user has to press a button, because any
 * site can open this page.
 */
export function CliLogin() {
  const { query } = useLocation()
  const request = readCliRequest(query)
  const isDone = useSignal(false)
  const opened = useSignal(new Date())
  const allow = useAction(async ({ port, state, challenge, label }: CliRequest) => {
    const { code } = await platform.call('POST /auth/cli/code', { body: { challenge, label } })
    isDone.value = true
    // Navigates instead of fetching, because browsers ask for permission before a page fetches from the local machine.
    location.assign(`http://127.0.0.1:${port}/?${new URLSearchParams({ code, state })}`)
  })
  if (!request)
    return (
      <Frame title="No login request">
        <p class="soft">The command line opens this page when it logs in. To start, run this in your terminal:</p>
        <p>
          <code>devctl context use {location.origin}</code>
        </p>
        <ButtonLink href="/" icon="home">
          Go to Home
        </ButtonLink>
      </Frame>
    )
  if (isDone.value)
    return (
      <Frame title="Logged in">
        <p class="soft">Return to your terminal. You can close this page.</p>
      </Frame>
    )
  return (
    <Frame title="Log in to the command line">
      <dl class="facts">
        <dt>Machine</dt>
        <dd>{printable(request.label)}</dd>
        <dt>Requested</dt>
        <dd>{opened.value.toLocaleTimeString('en-GB', { timeStyle: 'short' })}, from this computer</dd>
        <dt>Logs in as</dt>
        <dd>{me.value?.login}</dd>
      </dl>
      <p class="soft">
        Allow this only if you have just started it. The command line then acts with your rights for 30 days.
      </p>
      {allow.problem && <ProblemBox problem={allow.problem} />}
      <div class="stack">
        <Button look="solid" isBusy={allow.isRunning} onClick={() => void allow.run(request)}>
          Allow
        </Button>
        <ButtonLink href="/">Cancel</ButtonLink>
      </div>
    </Frame>
  )
}

/**
 * Parses the login request in the query of the page's URL. Returns undefined if no command line would send such a
 * request; the page then sends nothing.
 */
export function readCliRequest(query: Readonly<Record<string, string>>): CliRequest | undefined {
  const { port = '', state = '', challenge = '', label = '' } = query
  const number = /^\d{4,5}$/.test(port) ? Number(port) : 0
  if (number < 1024 || number > 65_535) return undefined
  if (!/^[A-Za-z0-9_-]{1,200}$/.test(state) || !/^[A-Za-z0-9_-]{43}$/.test(challenge)) return undefined
  return { port: number, state, challenge, label: label.slice(0, 60) || 'command line' }
}

/** Login request of the command line that opened this page. */
interface CliRequest {
  readonly port: number
  readonly state: string
  readonly challenge: string
  readonly label: string
}
