import { existsSync, realpathSync, statSync } from 'node:fs'
import { join, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { type AddressCredentials, splitCredentials } from './address-credentials.ts'
import { withoutCredentials } from './git.ts'
import { filePathIn } from './repository-url.ts'

/** The address of a repository, as git is given it and as people read it. */
export interface Address {
  /** Address for git: one with a scheme, or git's own `user@host:path`; a web address without its credentials. */
  readonly url: string
  /** Credentials that a web address contained. */
  readonly credentials?: AddressCredentials
  /** The address as it was written, without credentials. */
  readonly shown: string
  /** Absolute path, where it is a folder of this machine. */
  readonly folder?: string
  /** The folder is a checkout: its branch may be the one that is pushed to. */
  readonly isCheckout: boolean
  /** An option of the command line names it, no file: its server may have the user's token. */
  readonly isNamedByUser?: true
}

/**
 * Reads the address of a repository: `https://`, `ssh://`, `git://`, `file://`, `user@host:path`,
 * or the path of a folder, relative to `base` (absolute). Throws a UserError for a folder that is
 * not there or holds no repository, and for what would make git run a program.
 */
export function readAddress(text: string, base: string): Address {
  const shown = withoutCredentials(text)
  // `ext::` and its like are git's way to run any program; a word that begins with `-` would be
  // read as an option.
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
    // Programs disagree on where the host ends: the server that is shown, and gets the token, could be another one than
    // git connects to.
    if (/^[a-z+]+:\/\/[^/]*[\\?#]/.test(text))
      throw new UserError(`\`${shown}\` is not a repository URL: it has no valid host`, {
        hint: 'write a `/` behind the host, and `\\`, `?` and `#` before it as `%5C`, `%3F` and `%23`',
      })
    refuseOption(text.slice(text.indexOf('://') + 3), shown)
    return { ...splitCredentials(text), shown, isCheckout: false }
  }
  // `C:\deploy` is a folder, `host:path` is not; a slash before the colon makes it a path, as for
  // git.
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
 * Throws a UserError for a repository that lies in the folder that the source is in, links
 * followed: a push would run its hooks, and what its configuration says, which may come from anyone
 * who has changed the source.
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

const HINT = 'write `https://HOST/PATH`, `ssh://HOST/PATH`, `git@HOST:PATH`, or the path of a folder'

function ofFolder(folder: string, shown: string): Address {
  // Node.js takes no path with a NUL.
  if (folder.includes('\0') || !statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new UserError(`the folder \`${shown}\` does not exist`, { hint: HINT })
  const isCheckout = existsSync(join(folder, '.git'))
  if (!isCheckout && !existsSync(join(folder, 'HEAD')))
    throw new UserError(`the folder \`${shown}\` is not a git repository`, {
      hint: 'run `git init` in it, or write plain files with `devctl render --output-dir`',
    })
  // By its path git would copy all of the history; by the scheme it sends what is asked for.
  return { url: pathToFileURL(folder).href, shown, folder, isCheckout }
}
