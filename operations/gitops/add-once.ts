import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { PushTarget } from './checkout.ts'
import { refuseLinks } from './links.ts'
import { type Pushed, type PushOptions, pushTo } from './push.ts'
import { isOnRequest, refuseForeignCommit } from './request-branch.ts'
import { look } from './tree/change.ts'

/** A file that is written once, and belongs to its readers from then on. */
export interface OneFile {
  /** From the root of the repository, with `/`. */
  readonly path: string
  /** What it should hold, for the branch that is written to. Throws a UserError. */
  readonly text: (branch: string) => string
  readonly message: string
  /** The option that names another folder. */
  readonly option: string
}

export type AddedOnce =
  /** It is there already, and stays as it is. */
  | { readonly kind: 'there'; readonly branch: string; readonly isSame: boolean }
  /** What would be written. */
  | { readonly kind: 'planned'; readonly branch: string; readonly text: string }
  /** The branch of a pull request has it already. */
  | { readonly kind: 'requested'; readonly branch: string; readonly commit: string }
  | { readonly kind: 'pushed'; readonly pushed: Pushed }

export interface AddOptions extends PushOptions {
  /** Only look. */
  readonly dryRun: boolean
}

/** Commits a file to a branch of a repository, or to one for a pull request, unless one of its name is there. Throws a UserError where something is in the way, and what `pushTo` throws. */
export async function addOnce(
  target: Omit<PushTarget, 'paths'>,
  { path, text, message, option }: OneFile,
  options: AddOptions,
): Promise<AddedOnce> {
  const folder = posix.dirname(path)
  const work: Parameters<typeof pushTo<AddedOnce>>[1] = {
    async write(checkout) {
      const { branch, requestHead } = checkout
      await refuseLinks(checkout, folder, option)
      const there = look(checkout.folder, path)
      if (there.kind === 'blocked')
        throw new UserError(`\`${there.at}\` in the repository is ${there.what}`, {
          hint: `move it away, or choose another folder with \`${option}\``,
        })
      const wanted = text(branch)
      if (there.kind === 'file') return { done: { kind: 'there', branch, isSame: there.content === wanted } }
      if (options.dryRun) return { done: { kind: 'planned', branch, text: wanted } }
      mkdirSync(join(checkout.folder, dirname(path)), { recursive: true })
      writeFileSync(join(checkout.folder, path), wanted)
      if (requestHead !== undefined) {
        const request = { name: target.request!, commit: requestHead, isOnBase: true }
        await refuseForeignCommit(checkout, request)
        if (await isOnRequest(checkout, request, [path], [path]))
          return { done: { kind: 'requested', branch, commit: requestHead } }
      }
      return { commit: { message, paths: [path] } }
    },
  }
  const result = await pushTo({ ...target, paths: [folder] }, work, options)
  return 'done' in result ? result.done : { kind: 'pushed', pushed: result.pushed }
}
