import {
  type PresentedAuthority,
  type PresentedCertificate,
  presentedCertificate,
} from '../../adapters/http/presented-certificate.ts'
import { proxyFor } from '../../adapters/http/proxy.ts'
import { withTimeLimit } from '../../adapters/process/time-limit.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { configHome, type Surroundings } from '../../project/contexts/home.ts'
import { readContexts, saveContext } from '../../project/contexts/store.ts'
import { publishedAuthority } from './published-authority.ts'

/** Certificate authority whose fingerprint the user has to compare with the one from the operator of the platform. */
export interface UnknownAuthority {
  readonly host: string
  readonly name: string
  /** SHA-256 fingerprint. */
  readonly fingerprint: string
}

export interface TrustInput {
  readonly url: string
  /** Fingerprint from the operator. If absent, the user is asked. */
  readonly fingerprint: string | undefined
  /** Asks the user. If absent, the command is not interactive. */
  readonly ask: ((authority: UnknownAuthority) => Promise<boolean>) | undefined
  readonly signal: AbortSignal
}

/** Timeout for fetching the certificate, in milliseconds. */
const WITHIN = 10_000

/** Error codes of Node.js for a certificate chain whose root this machine does not know. */
const UNKNOWN = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
])

/**
 * Stores the certificate authority of a platform, if this machine does not know the authority and its fingerprint is
 * the one provided by the operator. Afterwards, only this authority is trusted for this platform. Throws a UserError if
 * the fingerprint differs, the user declines or cannot be asked, or a given fingerprint cannot be compared.
 */
export async function trustOwnAuthority(around: Surroundings, input: TrustInput): Promise<void> {
  const { url, fingerprint, ask, signal } = input
  const server = new URL(url)
  const home = configHome(around)
  const isKnown = readContexts(home).contexts.get(url)?.ca !== undefined
  if (server.protocol !== 'https:') {
    if (fingerprint === undefined) return
    throw new UserError(`\`${server.origin}\` has no certificate to compare`, {
      hint: 'leave `--ca-fingerprint` out',
    })
  }
  if (isKnown && fingerprint === undefined) return
  const deadline = withTimeLimit(WITHIN, signal)
  const found = await presentedCertificate(server, deadline, proxyFor(server, around.env)).catch(error => {
    signal.throwIfAborted()
    // The login itself reports the error without a fingerprint.
    if (fingerprint === undefined) return undefined
    throw notCompared(server.host, (error as Error).message, error)
  })
  const authority =
    found && (ownAuthority(found) ?? (await toldAuthority(server, found, plain(fingerprint ?? ''), { around, signal })))
  if (!authority) {
    if (found && fingerprint !== undefined) refuseTold(found, server.host)
    return
  }
  const shown = { host: server.host, name: authority.name, fingerprint: authority.fingerprint }
  if (fingerprint !== undefined && plain(fingerprint) !== plain(authority.fingerprint))
    throw new UserError(`the authority of ${server.host} does not have the given fingerprint`, {
      notes: [`it has the fingerprint ${authority.fingerprint}`],
      hint: 'somebody may be between you and the platform: ask its operator',
    })
  if (fingerprint === undefined && !(await ask?.(shown)))
    throw new UserError(`this machine does not know the authority that issued the certificate of ${server.host}`, {
      notes: [`it is \`${authority.name}\`, SHA-256 ${authority.fingerprint}`],
      hint: 'its operator sees the fingerprint in `devctl platform status`; then add `--ca-fingerprint FINGERPRINT`',
    })
  await saveContext(home, { name: url, ca: authority.pem }, false)
}

const plain = (fingerprint: string): string => fingerprint.replaceAll(/^sha256[:/]?|[^0-9a-f]/gi, '').toUpperCase()

/**
 * Throws a UserError because a given fingerprint could not be compared; without the comparison, a man in the middle
 * could present another certificate to the login.
 */
function refuseTold({ distrust }: PresentedCertificate, host: string): never {
  if (distrust !== undefined) throw notCompared(host, `it presents no authority of its own (${distrust})`)
  throw new UserError(`the certificate of ${host} was issued by a public authority`, {
    hint: 'leave `--ca-fingerprint` out if its operator confirms this',
  })
}

const notCompared = (host: string, why: string, cause?: unknown): UserError =>
  new UserError(`the authority of ${host} could not be compared with the given fingerprint: ${why}`, {
    hint: 'nothing was sent to it; `devctl platform status` tells its operator what is wrong with the certificate',
    cause,
  })

/**
 * Returns the authority whose fingerprint, in hexadecimal digits, was given. Returns undefined if the fingerprint is
 * empty or no authority has it. Searches the end of the certificate chain, and then the authorities that the platform
 * publishes, because the chain need not contain its authority.
 */
async function toldAuthority(
  server: URL,
  { root }: PresentedCertificate,
  fingerprint: string,
  { around, signal }: { readonly around: Surroundings; readonly signal: AbortSignal },
): Promise<PresentedAuthority | undefined> {
  if (fingerprint === '') return undefined
  if (root && plain(root.fingerprint) === fingerprint) return root
  return publishedAuthority(server, fingerprint.match(/../g)!.join(':'), around.env, signal)
}

/** Returns the authority at the end of the chain, if this machine does not know it. */
const ownAuthority = ({ distrust, root }: PresentedCertificate) =>
  distrust !== undefined && UNKNOWN.has(distrust) ? root : undefined
