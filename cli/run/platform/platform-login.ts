import { browserCommand, openPage } from '../../../adapters/process/browser.ts'
import { login } from '../../../platform/session/login.ts'
import { type TrustInput, trustOwnAuthority } from '../../../platform/session/trust.ts'
import { configHome } from '../../../project/contexts/home.ts'
import { platformNamedBy, tokenOf, toToken } from '../../../project/contexts/platform-of-environment.ts'
import { platformUrl } from '../../../project/contexts/platform-url.ts'
import { readContexts } from '../../../project/contexts/store.ts'
import type { Context } from '../../command.ts'
import type { Io } from '../../terminal/io.ts'
import { withDeadline } from '../deadline.ts'
import { hasTokenOfEnvironment, warnOfToken } from '../environment-token.ts'
import { fieldsOf, type UseValues, usingContext, warnOfVariables } from '../using-context.ts'

/** Time that the user has to enter the code, in milliseconds. */
const TYPING = 600_000

/** Logs in to a platform, if not already logged in, and makes it the current context. */
export async function usePlatform({ io, logLevel }: Context, word: string, values: UseValues): Promise<number> {
  const url = platformUrl(word)
  const known = readContexts(configHome(io)).contexts.get(url)
  const ofEnvironment = () => (platformNamedBy(io.env) === url ? tokenOf(io.env) : undefined)
  const token = values.token ? toToken(values.token, '`--token`') : ofEnvironment()
  const command = values.browser && io.stderr.isTTY ? browserCommand(io.env) : undefined
  const limits = {
    // A user needs more time to type than a program to answer.
    timeout: TYPING,
    hint: 'run `devctl context use` again; with `--no-browser`, you can enter a code in any browser',
    onInterrupt: () => {},
  }
  return withDeadline(io, limits, async signal => {
    await trustOwnAuthority(io, { url, fingerprint: values.caFingerprint, ask: askToTrust(io), signal })
    const { me, namespace, lost } = await login(io, {
      url,
      token,
      known: known?.token,
      ...(command && { open: page => openPage(command, page, io.env) }),
      onPage: page => {
        io.stderr.write(`Waiting for your browser. If no page opens, go to\n  ${page}\n`)
      },
      fields: fieldsOf(values),
      remembered: known?.namespace,
      signal,
      onCode: ({ page, code }) => {
        io.stderr.write(`To log in, open ${page} in a browser and enter the code ${code}\n`)
      },
    })
    if (logLevel !== 'error') io.stderr.write(`Logged in as ${me.login}\n`)
    if (lost !== undefined && logLevel !== 'error')
      io.stderr.write(
        `warning: namespace \`${lost}\`, which this context had, does not exist any more, or you are not a member of it\n`,
      )
    const { DEVCTL_NAMESPACE: ofEnvironment = me.home } = io.env
    // The current context is now the one from the environment variables, which does not use this namespace.
    if (hasTokenOfEnvironment(io.env, url) && ofEnvironment !== namespace) {
      if (logLevel !== 'error') warnOfToken(io, namespace)
      return 0
    }
    io.stdout.write(`${usingContext(namespace, url)}\n`)
    const others = platformNamedBy(io.env) === url ? [] : ['DEVCTL_URL']
    if (logLevel !== 'error') warnOfVariables(io, [...others, 'DEVCTL_CONTEXT', 'DEVCTL_NAMESPACE'])
    return 0
  })
}

/**
 * Asks the user at the terminal whether the fingerprint of a certificate authority is the fingerprint that the operator
 * gave them.
 */
function askToTrust({ choose, stderr }: Io): TrustInput['ask'] {
  if (!choose) return undefined
  return async ({ host, name, fingerprint }) => {
    stderr.write(
      `The certificate of ${host} comes from an authority that this machine does not trust: ${name}\n  SHA-256 ${fingerprint}\n`,
    )
    return (
      (await choose('Does it match the fingerprint that the operator gave you?', [
        { value: 'no' },
        { value: 'yes' },
      ])) === 'yes'
    )
  }
}
