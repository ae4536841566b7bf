import { join } from 'node:path'
import { changeFile, readText } from '../../adapters/files/locked-file.ts'
import { checkJson, parseJson } from '../../adapters/json/parse-json.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { ContextsFile } from './contexts.schema.ts'
import { contextsFile } from './contexts.validators.ts'
import { Secret } from './secret.ts'

/** Stored context. Absent settings are determined when the context is used. */
export interface StoredContext {
  /** Name of a Kubernetes context, or URL of a platform. */
  readonly name: string
  readonly token?: Secret
  readonly namespace?: string
  /** Builder: `docker`, or an address as in `BUILDKIT_HOST`: `tcp://HOST:PORT`. */
  readonly builder?: string
  /** Host and path of the registry, without a scheme. */
  readonly registry?: string
  /** Domain under which public routes get their hosts. */
  readonly domain?: string
  /** Name of the logged-in user; only for a platform. */
  readonly user?: string
  /**
   * Registry of the platform, as reported at the login; `-` for none. Each namespace has a path in it. Only for a
   * platform, and only for display.
   */
  readonly platformRegistry?: string
  /** CA certificate to trust, in PEM; only for a platform with its own certificate authority. */
  readonly ca?: string
  /** API server of a platform, as other programs such as kubectl reach it, and its CA certificate. */
  readonly kubernetes?: { readonly server: string; readonly ca?: string }
  /** Last Kubernetes token that a platform has issued, and its expiry (RFC 3339). */
  readonly kubeToken?: { readonly token: Secret; readonly expires: string }
}

/** Stored contexts, and the name of the current one. */
export interface StoredContexts {
  readonly current: string | undefined
  readonly contexts: ReadonlyMap<string, StoredContext>
}

/** Returns true if a context is a platform, not a Kubernetes context: its name is a URL. */
export function isPlatform(name: string): boolean {
  return /^https?:\/\//i.test(name)
}

/**
 * Returns the contexts stored in `home`, devctl's own folder; empty if the file does not exist. Throws a UserError for
 * a damaged file.
 */
export function readContexts(home: string): StoredContexts {
  const path = fileOf(home)
  try {
    const { current, contexts } = parse(readText(path), path)
    return {
      current,
      contexts: new Map(Object.entries(contexts).map(([name, record]) => [name, toContext(name, record)])),
    }
  } catch (error) {
    if (error instanceof UserError) throw error
    const { code } = error as NodeJS.ErrnoException // only node:fs throws here
    throw new UserError(`cannot read \`${path}\`: ${code}`, { hint: 'check the permissions of the file', cause: error })
  }
}

/**
 * Merges fields into a stored context; an empty text removes a field. `isCurrent` makes the context the current one. A
 * new token also removes the stored Kubernetes token, which may belong to another user. Throws a UserError if the file
 * cannot be changed.
 */
export function saveContext(home: string, { name, ...fields }: StoredContext, isCurrent: boolean): Promise<void> {
  return change(home, content => {
    const before: StoredFields = (Object.hasOwn(content.contexts, name) ? content.contexts[name] : undefined) ?? {}
    const { kubeToken: _, ...others } = before
    const given = reveal(fields)
    const isOther = given.token !== undefined && given.token !== before.token
    const all = Object.entries({ ...(isOther ? others : before), ...given })
    const record = Object.fromEntries(all.filter(([, value]) => value !== ''))
    requireReadable(name, record)
    return { ...content, ...(isCurrent && { current: name }), contexts: { ...content.contexts, [name]: record } }
  })
}

/**
 * Throws a UserError if the fields that a platform has reported would make the file unreadable, because no context
 * would work any more.
 */
function requireReadable(name: string, record: Readonly<Record<string, unknown>>): void {
  const checked = checkJson({ contexts: { [name]: record } }, contextsFile)
  if (!checked.ok) throw new UserError(`\`${name}\` is not a devctl platform: in its response, ${checked.problem}`)
}

/**
 * Deletes a stored context. If it was the current one, no context is current afterwards. Returns false if no such
 * context was stored. Throws a UserError if the file cannot be changed.
 */
export async function deleteContext(home: string, name: string): Promise<boolean> {
  let isKnown = false
  await change(home, ({ current, ...content }) => {
    isKnown = Object.hasOwn(content.contexts, name)
    const { [name]: _, ...contexts } = content.contexts
    return { ...content, ...(current !== name && current !== undefined && { current }), contexts }
  })
  return isKnown
}

type Content = ContextsFile & Required<Pick<ContextsFile, 'contexts'>>
type StoredFields = Content['contexts'][string]

const fileOf = (home: string) => join(home, 'contexts.json')

function change(home: string, edit: (content: Content) => Content): Promise<void> {
  const path = fileOf(home)
  return changeFile(path, {
    shown: path,
    isPrivate: true,
    edit: text => `${JSON.stringify(edit(parse(text, path)), undefined, 2)}\n`,
  })
}

function parse(text: string | undefined, path: string): Content {
  if (text === undefined) return { contexts: {} }
  const read = parseJson(text, contextsFile)
  if (read.ok) return { ...read.value, contexts: read.value.contexts ?? {} }
  throw new UserError(`\`${path}\` cannot be read: ${read.problem}`, {
    hint: 'correct it or remove it; `devctl context use NAME` creates a new one',
  })
}

function toContext(name: string, fields: StoredFields): StoredContext {
  const { token, namespace, builder, registry, domain, user, platformRegistry, ca, kubernetes, kubeToken } = fields
  return {
    name,
    ...(token && { token: new Secret(token) }),
    ...(namespace && { namespace }),
    ...(builder && { builder }),
    ...(registry && { registry }),
    ...(domain && { domain }),
    ...(user && { user }),
    ...(platformRegistry && { platformRegistry }),
    ...(ca && { ca }),
    ...(kubernetes && { kubernetes }),
    ...(kubeToken && { kubeToken: { ...kubeToken, token: new Secret(kubeToken.token) } }),
  }
}

/** Returns the fields as they are written to the file. This is the only function in which a token leaves its Secret. */
function reveal({ token, kubeToken, ...fields }: Omit<StoredContext, 'name'>): StoredFields {
  return {
    ...fields,
    ...(token && { token: token.reveal() }),
    ...(kubeToken && { kubeToken: { ...kubeToken, token: kubeToken.token.reveal() } }),
  }
}
