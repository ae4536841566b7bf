import { resolve } from 'node:path/posix'
import fc from 'fast-check'
import { expect } from 'vitest'
import { returnPath } from '../../../platform/rules/accounts/provider.ts'
import { branchProblem, filePathProblem, readRepositoryUrl } from '../../../platform/rules/repository-url.ts'

/** Texts that git, ssh, a shell or a browser could read as something other than what they seem. */
const TRICKS = [
  ...['https://', 'HTTPS://', 'ssh://', 'ext::', 'ext::sh -c id', 'file://', 'file:', 'fd::0', 'git://', 'http://'],
  ...['-', '--upload-pack=', '--upload-pack=touch x', '-c', '-oProxyCommand=id', '@', ':', '/', '//', '..', './', '~'],
  ...[
    '%2e',
    '%2F',
    '%00',
    '%0a',
    '\\',
    '\n',
    '\r',
    '\t',
    '\0',
    '?',
    '#',
    ';',
    '|',
    '$(id)',
    '`id`',
    '&',
    ' ',
    '{',
    '^',
  ],
  ...['git.example.com', 'user', 'user:pass@', '127.0.0.1', '[::1]', 'localhost', ':443', ':99999', 'a', 'b.git', 'ü'],
  ...['\u202e', '\u2028', '.lock', '@{', '.', '*', '<script>', 'javascript:', '/api/v1', '/login'],
]
const tricky = fc
  .array(fc.oneof(fc.constantFrom(...TRICKS), fc.string({ unit: 'binary', maxLength: 4 })), { maxLength: 12 })
  .map(parts => parts.join(''))
/** Most texts are refused by their beginning. */
const url = fc.oneof(
  tricky,
  tricky.map(text => `https://git.example.com/${text}`),
  tricky.map(text => `https://${text}`),
)

/** Checks that every accepted text is a plain address of the host that it names, and never an option of a program. */
export function tryRepositories(numRuns: number): void {
  fc.assert(
    fc.property(url, text => {
      const read = readRepositoryUrl(text)
      if (!read.ok) return
      const { url, host } = read.repository
      expect(url).toMatch(/^(https:\/\/|ssh:\/\/([A-Za-z_][\w.-]*@)?)[a-z0-9][a-z0-9.:-]*(\/[\w~][\w.~+@-]*)+$/)
      const seen = new URL(url)
      expect([seen.host || seen.hostname, seen.password, seen.search, seen.hash]).toEqual([
        host.replace(/:443$/, ''),
        '',
        '',
        '',
      ])
      expect(seen.pathname).toBe(url.slice(url.indexOf('/', 8)))
      expect(readRepositoryUrl(url), 'it is read again as it is').toMatchObject({ ok: true, repository: { url } })
    }),
    { numRuns },
  )
}

/** A branch is a name that git has no other meaning for, and a file is below the repository. */
export function tryBranchesAndFiles(numRuns: number): void {
  fc.assert(
    fc.property(tricky, text => {
      if (branchProblem(text) === undefined) {
        expect(text).toMatch(/^[^-\s~^:?*[\\\p{Cc}][^\s~^:?*[\\\p{Cc}]*$/u)
        expect(text).not.toMatch(/\.\.|@\{|\.lock$/)
      }
      if (filePathProblem(text) === undefined) {
        expect(text).not.toMatch(/^[-/\\]|\p{Cc}/u)
        expect(`${resolve('/repository', text.replaceAll('\\', '/'))}/`).toMatch(/^\/repository\//)
      }
    }),
    { numRuns },
  )
}

/** Checks that a browser ends on a page of the platform after a login, whatever address it started from. */
export function tryReturnPaths(numRuns: number): void {
  fc.assert(
    fc.property(
      fc.oneof(
        tricky,
        tricky.map(text => `/${text}`),
        fc.anything(),
      ),
      from => {
        const path = returnPath(from)
        const seen = new URL(path, 'https://platform.example.com')
        expect([seen.origin, path[0], path.startsWith('//')]).toEqual(['https://platform.example.com', '/', false])
        expect(seen.pathname).not.toMatch(/^\/(api|login|hooks)(\/|$)/)
      },
    ),
    { numRuns },
  )
}
