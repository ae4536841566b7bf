import { existsSync, realpathSync } from 'node:fs'
import { join, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { statIfFound } from '../files/stat-if-found.ts'
import { type AddressCredentials, splitCredentials } from './address-credentials.ts'
import { withoutCredentials } from './git.ts'
import { filePathIn } from './repository-url.ts'

/** The address of a repository, for git and for messages. */
export interface Address {
  /** Address for git: with a scheme, or in git's form `user@host:path`. A web address contains no credentials here. */
  readonly url: string
  /** Credentials that were removed from a web address. */
  readonly credentials?: AddressCredentials
  /** The address as the user wrote it, without credentials. */
  readonly shown: string
  /** Absolute path, if the repository is a local folder. */
  readonly folder?: string
  /** True if `folder` has a working tree, in which the branch to push to may be checked out. */
  readonly isCheckout: boolean
  /** True if a command line option, not a file, names the address. The server may then receive the user's token. */
  readonly isNamedByUser?: true
}

/**
 * Parses the address of a repository: `https://`, `ssh://`, `git://`, `file://`, `user@host:path`, or the path of a
 * folder, relative to `base` (absolute). Throws a UserError if a folder does not exist or is not a repository, or if
 * the address would make git run a program.
 */
export function readAddress(text: string, base: string): Address {
  const shown = withoutCredentials(text)
  // `ext::` and similar protocols make git run any program; an argument that begins with `-` would be read as an
  // option.
  if (text.startsWith('-') || /^[a-z][a-z0-9+.-]*::/i.test(text))
    throw new UserError(`\`${shown}\` is not a repository URL`, { hint: HINT })
  const [scheme] = /^[a-z][a-z0-9+.-]*(?=:\/\/)/i.exec(text) ?? []
  if (scheme !== undefined) {
    if (scheme !== scheme.toLowerCase())
      throw new UserError(`the scheme of \`${shown}\` has capital letters, which git does not accept`, {
        hint: `write \`${scheme.toLowerCase()}://\``,
      })
    const path = scheme === 'file' ? filePathIn(text) : undefined
    if (path !== undefined) return ofFolder(path, shown)
    if (!/^(https?|ssh|git|git\+ssh|ssh\+git):\/\/[^\s\p{Cc}]+$/iu.test(text) || !URL.canParse(text))
      throw new UserError(`\`${shown}\` is not a repository URL`, { hint: HINT })
    // Programs disagree on where the host ends: the server that is shown and receives the token could differ from the
    // server that git connects to.
    if (/^[a-z+]+:\/\/[^/]*[\\?#]/.test(text))
      throw new UserError(`\`${shown}\` is not a repository URL: it has no valid host`, {
        hint: 'write a `/` behind the host, and `\\`, `?` and `#` before it as `%5C`, `%3F` and `%23`',
      })
    if (/^https?:\/\/[^/]*%([01][\da-f]|7f)[^/]*@/i.test(text))
      throw new UserError(
        `the user or the password in \`${shown}\` contains a line break or another control character`,
        { hint: LEAVE_OUT },
      )
    refuseOption(text.slice(text.indexOf('://') + 3), shown)
    return { ...splitCredentials(text), shown, isCheckout: false }
  }
  // `C:\deploy` is a folder, `host:path` is not; a slash before the colon makes it a path, as in git.
  if (/^[^/\\:]{2,}:(?!\\)/.test(text)) {
    refuseOption(text, shown)
    return { url: text, shown, isCheckout: false }
  }
  return ofFolder(resolve(base, text), shown)
}

/**
 * Throws a UserError for a user or host that begins with a dash: ssh would read it as an option,
 * such as one that names a program to run.
 */
function refuseOption(authority: string, shown: string): void {
  if (!/^(?:[^@/]*@)?-/.test(authority)) return
  throw new UserError(`the host of \`${shown}\` must not begin with a dash`, {
    hint: HINT,
  })
}

/**
 * Throws a UserError for a repository inside the source folder, after following links: a push would run its hooks and
 * the programs in its configuration, which may come from anyone who has changed the source.
 */
export function refuseInside({ folder, shown }: Address, source: string): void {
  if (folder === undefined) return
  const [inner, outer] = [folder, source].map(path => realpathSync.native(path)) as [string, string] // map keeps the length
  if (inner !== outer && !inner.startsWith(outer.endsWith(sep) ? outer : `${outer}${sep}`)) return
  throw new UserError(`the repository \`${shown}\` is in the folder of the source, whose files devctl does not run`, {
    notes: [`a push would run the hooks of \`${inner}\``],
    hint: 'move it out of the source, or write its address on a server',
  })
}

const LEAVE_OUT = 'leave it out: git does not accept `%0A`, `%0D` and the like'
const HINT = 'write `https://HOST/PATH`, `ssh://HOST/PATH`, `git@HOST:PATH`, or the path of a folder'

function ofFolder(folder: string, shown: string): Address {
  if (!statIfFound(folder)?.isDirectory()) throw new UserError(`the folder \`${shown}\` does not exist`, { hint: HINT })
  const isCheckout = existsSync(join(folder, '.git'))
  if (!isCheckout && !existsSync(join(folder, 'HEAD')))
    throw new UserError(`the folder \`${shown}\` is not a git repository`, {
      hint: 'run `git init` in it, or write plain files with `devctl render --output-dir`',
    })
  // Git would copy the full history for a plain path; for `file://`, it sends only the requested part.
  return { url: pathToFileURL(folder).href, shown, folder, isCheckout }
}
