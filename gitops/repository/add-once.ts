import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { editYaml } from '../../adapters/files/yaml-edit.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { PushTarget, WorkingCopy } from './checkout.ts'
import { refuseLinks } from './links.ts'
import { noBase } from './publication.ts'
import { type Pushed, type PushOptions, pushTo } from './push.ts'
import {
  isOnRequest,
  REMOVE_BRANCH,
  refuseForeignCommit,
  refuseOtherBase,
  requestFile,
  withBase,
} from './request-branch.ts'
import { look } from './tree/change.ts'

/** A file that devctl writes once and that users edit from then on. */
export interface OneFile {
  /** Path from the root of the repository, with `/`. */
  readonly path: string
  /**
   * Returns the content of the file for a branch, the one that the file is committed to. May throw a UserError, which
   * ends the command.
   */
  readonly text: (branch: string) => string
  readonly message: string
  /** Throws a UserError if other files of the folder, by path, must not be there together with the text. */
  readonly refuseOthers?: (files: ReadonlyMap<string, string>, text: string) => Promise<void>
  /** Command-line option for choosing another folder, named in error messages. */
  readonly option: string
}

export type AddedOnce =
  /** The file exists already, and stays unchanged. */
  | { readonly kind: 'there'; readonly branch: string; readonly isSame: boolean }
  /**
   * Change that a run without `--dry-run` would make. `listedIn` is the path of the folder's kustomization, if it would
   * have to be changed.
   */
  | { readonly kind: 'planned'; readonly branch: string; readonly text: string; readonly listedIn?: string }
  /** The branch of a pull request already has the file. */
  | { readonly kind: 'requested'; readonly branch: string; readonly commit: string }
  /**
   * The file was committed and pushed. `listedIn` is the path of the folder's kustomization, if it had to be changed.
   */
  | { readonly kind: 'pushed'; readonly pushed: Pushed; readonly listedIn?: string }

export interface AddOptions extends PushOptions {
  /** True to commit nothing and only compute the change. */
  readonly dryRun: boolean
}

/**
 * Commits a file to a branch of a repository, or to a pull-request branch, unless a file of that name exists. Also adds
 * the file to the kustomization of its folder, if the folder has one. Throws a UserError if the file cannot be added,
 * and all errors of `pushTo`.
 */
export async function addOnce(
  target: Omit<PushTarget, 'paths'>,
  { path, text, message, option, refuseOthers }: OneFile,
  options: AddOptions,
): Promise<AddedOnce> {
  const folder = posix.dirname(path)
  let list: EditedFile | undefined
  const work: Parameters<typeof pushTo<AddedOnce>>[1] = {
    async write(checkout) {
      const { branch, head, requestHead } = checkout
      if (head === undefined && target.request !== undefined && !options.dryRun) throw noBase(branch)
      await refuseLinks(checkout, folder, option)
      const there = look(checkout.folder, path)
      if (there.kind === 'blocked')
        throw new UserError(`\`${there.at}\` in the repository is ${there.what}`, {
          hint: `move it away, or choose another folder with \`${option}\``,
        })
      const wanted = text(branch)
      await refuseOthers?.(filesIn(checkout.folder, folder), wanted)
      if (there.kind === 'file') return { done: { kind: 'there', branch, isSame: there.content === wanted } }
      list = await listResource(checkout.folder, folder, posix.basename(path))
      if (options.dryRun)
        return { done: { kind: 'planned', branch, text: wanted, ...(list && { listedIn: list.path }) } }
      mkdirSync(join(checkout.folder, dirname(path)), { recursive: true })
      writeFileSync(join(checkout.folder, path), wanted)
      if (list) writeFileSync(join(checkout.folder, list.path), list.text)
      const paths = [path, ...(list ? [list.path] : [])]
      if (requestHead !== undefined) {
        const request = { name: target.request!, commit: requestHead, isOnBase: true }
        await refuseForeignCommit(checkout, request, REMOVE_BRANCH)
        await refuseOtherBase(checkout, request, REMOVE_BRANCH)
        await refuseOtherText(checkout, request.name, path, wanted)
        if (await isOnRequest(checkout, request, paths, paths))
          return { done: { kind: 'requested', branch, commit: requestHead } }
      }
      return { commit: { message: target.request === undefined ? message : withBase(message, branch), paths } }
    },
  }
  const result = await pushTo({ ...target, paths: [folder] }, work, options)
  if ('done' in result) return result.done
  return { kind: 'pushed', pushed: result.pushed, ...(list && { listedIn: list.path }) }
}

/** Returns the texts of the files in a folder of the repository, by path; without those in its subfolders. */
function filesIn(root: string, folder: string): ReadonlyMap<string, string> {
  const found = look(root, folder).kind === 'missing' ? [] : readdirSync(join(root, folder))
  const paths = found.map(name => posix.join(folder, name))
  return new Map(
    paths.flatMap(path => {
      const there = look(root, path)
      return there.kind === 'file' ? [[path, there.content] as const] : []
    }),
  )
}

/** Throws a UserError if the branch of the pull request has the file with another text, which may be edited by hand. */
async function refuseOtherText(checkout: WorkingCopy, name: string, path: string, wanted: string): Promise<void> {
  const there = await requestFile(checkout, path)
  if (there === undefined || there === wanted) return
  throw new UserError(`\`${path}\` on the branch \`${name}\` has other content, which would be overwritten`, {
    hint: REMOVE_BRANCH,
  })
}

/** A file of a repository with its new text. */
interface EditedFile {
  /** Path from the root of the repository, with `/`. */
  readonly path: string
  readonly text: string
}

/**
 * Returns the kustomization of a folder with `file` added to its resources, because controllers that find a
 * kustomization apply only the resources that it lists. Undefined if the folder has no kustomization, or the
 * kustomization already lists the file. Throws a UserError if the kustomization cannot be edited.
 */
async function listResource(root: string, folder: string, file: string): Promise<EditedFile | undefined> {
  for (const name of KUSTOMIZATIONS) {
    const path = folder === '.' ? name : `${folder}/${name}`
    const found = look(root, path)
    if (found.kind !== 'file') continue
    const text = await withResource(found.content, file, path)
    return text === found.content ? undefined : { path, text }
  }
}

/** File names under which kustomize finds the kustomization of a folder. */
const KUSTOMIZATIONS = ['kustomization.yaml', 'kustomization.yml', 'Kustomization']

async function withResource(text: string, file: string, path: string): Promise<string> {
  const add = (item: string) => editYaml(text, { path: ['resources'], item })
  const dotted = await add(`./${file}`)
  if (dotted.ok && dotted.text === text) return text
  const edited = await add(file)
  if (edited.ok) return edited.text
  throw new UserError(`\`${path}\` of the repository cannot list \`${file}\`: ${edited.problem}`, {
    hint: 'correct it there, or choose another folder with `--into`',
  })
}
