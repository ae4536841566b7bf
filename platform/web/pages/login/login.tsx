import { useLocation } from 'preact-iso/router'
import { LOGIN_PROBLEMS, type LoginProblem } from '../../../rules/accounts/login-problems.ts'
import { ProblemBox } from '../../parts/problem.tsx'
import { SessionProblem } from '../../parts/session-problem.tsx'
import { navigate } from '../../state/navigate.ts'
import type { Failure } from '../../state/problem.ts'
import { info, me, useSession } from '../../state/session.ts'
import { Frame } from './frame.tsx'
import { Providers } from './providers.tsx'

/** Returns the message for the code of a failed login. The URL contains only the code, not the message. */
const loginProblem = (code: string): Failure => ({
  kind: 'refused',
  ...LOGIN_PROBLEMS[Object.hasOwn(LOGIN_PROBLEMS, code) ? (code as LoginProblem) : 'failed'], // it is one of them
})

/** Shows a button for each login provider, or instructions if there is none. */
export function Login() {
  const { query } = useLocation()
  const back = safeReturn(query['to'], location.origin)
  const session = useSession(() => {
    if (me.peek()) navigate(back)
  })
  const ways = info.value?.login
  return (
    <Frame title="Log in">
      {query['problem'] !== undefined && <ProblemBox problem={loginProblem(query['problem'])} />}
      <SessionProblem of={session} />
      <div class="stack login-ways">
        <Providers back={back} />
        {ways?.length === 0 && (
          <div class="stack tight soft">
            <p>This platform has no login provider. You need an invitation, which an administrator creates with</p>
            <p>
              <code>devctl platform invite NAME</code>
            </p>
          </div>
        )}
      </div>
    </Frame>
  )
}

/**
 * Returns the path if it is on this site, otherwise the path of the start page. A crafted link therefore cannot
 * redirect a user to another site.
 */
export function safeReturn(text: string | undefined, origin: string): string {
  if (!text?.startsWith('/') || !URL.canParse(text, origin)) return '/'
  const url = new URL(text, origin)
  // The path of `/.//host` is `//host`, which is another site.
  return url.origin === origin && !url.pathname.startsWith('//') ? url.pathname + url.search : '/'
}
