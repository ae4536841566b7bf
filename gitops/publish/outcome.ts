import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import type { ObjectDiff } from '../../environment/plan/diff.ts'
import type { SourceCommit } from '../repository/source.ts'
import type { DifferingFile } from './differing-files.ts'
import type { FolderCounts } from './folder-counts.ts'
import type { OpenedRequest } from './target/request.ts'

/** The result of a publish. */
export type PublishOutcome =
  /** The files have errors, which an event has reported, and nothing was published. */
  { readonly kind: 'refused'; readonly diagnostics: readonly Diagnostic[] } | RepositoryOutcome | RegistryOutcome

/** The compiled application. */
export interface Rendered {
  readonly application: string
  /** Key of the environment in devctl.yml. */
  readonly environment?: string
  /** The files that its objects come from, as they name them. */
  readonly sources: readonly string[]
  /** The commit of the source; undefined outside of a repository. */
  readonly sourceCommit: SourceCommit | undefined
}

/** The planned changes of an application's folders. */
export interface PlannedChange {
  /**
   * Changes of the objects, with secret values masked. Undefined if the existing files were edited and cannot be read.
   */
  readonly objects: readonly ObjectDiff[] | undefined
  readonly folders: readonly FolderCounts[]
  readonly files: readonly DifferingFile[]
}

/** A commit or an artifact that was made. */
interface Made {
  /** `deploy(shop/staging): api 1.4.2 → 1.4.3`. */
  readonly subject: string
  /** Changes of the objects, as in `PlannedChange`. */
  readonly objects: readonly ObjectDiff[] | undefined
}

/** The result of a publish to a git repository. */
export type RepositoryOutcome = Rendered & {
  readonly to: 'repository'
  /** The application's folder in it. */
  readonly path: string
  /** The branch of the pull request, where there is to be one. */
  readonly requestBranch?: string
} & (
    | {
        readonly kind: 'unchanged'
        readonly branch: string
        readonly commit: string | undefined
        /** The branch of a pull request with nothing to change any more was removed, or the server did not allow it. */
        readonly withdrawn?: 'removed' | 'left'
      }
    /**
     * The content of the branch, or of the pull request (`isRequest`), comes from a newer commit of
     * the source, `newer`.
     */
    | { readonly kind: 'newer'; readonly newer: string; readonly isRequest: boolean }
    /** The change that would be made (`dryRun`, `verify`). */
    | { readonly kind: 'planned'; readonly branch: string; readonly change: PlannedChange }
    /**
     * The branch of the pull request holds it already, at `commit`. `branch` is the one that it is to be merged into.
     */
    | {
        readonly kind: 'requested'
        readonly branch: string
        readonly commit: string
        readonly request: OpenedRequest
      }
    | (Made & {
        readonly kind: 'pushed'
        /** Branch that was pushed to; with a pull request, the branch that it merges into. */
        readonly branch: string
        readonly before: string | undefined
        readonly commit: string
        /** The commit on the pages of the server; absent where that is not known, and with a request. */
        readonly page?: string
        readonly request?: OpenedRequest
      })
  )

/** The result of a publish to a registry. */
export type RegistryOutcome = Rendered & {
  readonly to: 'registry'
  /** Name of the artifact with the registry, without the tag. */
  readonly name: string
  readonly tag: string
  /** `NAME:TAG`. */
  readonly reference: string
} & (
    | { readonly kind: 'unchanged'; readonly digest: string }
    /** The content of the tag comes from a newer commit of the source, `newer`. */
    | { readonly kind: 'newer'; readonly newer: string; readonly digest: string }
    | { readonly kind: 'planned'; readonly digest: string | undefined; readonly change: PlannedChange }
    | (Made & {
        readonly kind: 'pushed'
        readonly before: string | undefined
        readonly digest: string
        /** The tag that only this artifact has. */
        readonly ownTag: string
        /** The changes, object by object, in words. */
        readonly lines: readonly string[]
      })
  )
