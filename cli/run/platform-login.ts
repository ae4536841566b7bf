import { devctlHome } from '../../operations/contexts/home.ts'
import { Secret } from '../../operations/contexts/secret.ts'
import { readContexts } from '../../operations/contexts/store.ts'
import { login, platformUrl } from '../../operations/platform/login.ts'
import type { Context } from '../command.ts'
import { INTERRUPTED } from '../terminal/exit-status.ts'
import { watchForInterruption } from '../terminal/interruption.ts'
import { deadlineOf } from './deadline.ts'
import { type UseValues, usingContext, warnOfVariables } from './using-context.ts'

/** Milliseconds in which a person has to type the code. */
const TYPING = 600_000

/** Logs in to a platform, unless that was done, and makes it the current context. */
export async function usePlatform({ io, logLevel }: Context, word: string, values: UseValues): Promise<number> {
  const url = platformUrl(word)
  const { namespace, builder, domain, registry } = values
  const known = readContexts(devctlHome(io)).contexts.get(url)
  const given = values.token ?? (io.env.DEVCTL_URL === url ? io.env.DEVCTL_TOKEN : undefined)
  const token = given ? new Secret(given) : known?.token
  const interrupt = watchForInterruption()
  const limit = AbortSignal.timeout(token === undefined ? TYPING : deadlineOf(io, undefined))
  try {
    const { me, namespace: current } = await login(io, {
      url,
      token,
      fields: {
        ...(namespace ? { namespace } : known?.namespace && { namespace: known.namespace }),
        ...(builder && { builder }),
        ...(domain && { domain: domain === '-' ? '' : domain }),
        ...(registry && { registry: registry === '-' ? '' : registry }),
      },
      signal: AbortSignal.any([limit, interrupt.signal]),
      onCode: ({ page, code }) => {
        io.stderr.write(`To log in, open ${page} in a browser and type the code ${code}\n`)
      },
    })
    if (logLevel !== 'error') io.stderr.write(`Logged in as ${me.login}\n`)
    io.stdout.write(`${usingContext(current, url)}\n`)
    if (logLevel !== 'error') warnOfVariables(io, ['DEVCTL_CONTEXT', 'DEVCTL_NAMESPACE'])
    return 0
  } catch (error) {
    if (interrupt.signal.aborted) return INTERRUPTED
    throw error
  } finally {
    interrupt.stop()
  }
}
