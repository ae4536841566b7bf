import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import type { ObjectDiff } from '../../environment/plan/diff.ts'
import type { SourceCommit } from '../repository/source.ts'
import type { DifferingFile } from './differing-files.ts'
import type { FolderCounts } from './folder-counts.ts'
import type { OpenedRequest } from './target/request.ts'

/** Result of a publish. */
export type PublishOutcome =
  /** `refused`: the files have errors, which an event has reported, and nothing was published. */
  { readonly kind: 'refused'; readonly diagnostics: readonly Diagnostic[] } | RepositoryOutcome | RegistryOutcome

/** The compiled application. */
export interface Rendered {
  readonly application: string
  /** Key of the environment in devctl.yml. */
  readonly environment?: string
  /** Files that the objects come from, as the objects name them. */
  readonly sources: readonly string[]
  /** Commit of the source; undefined outside a repository. */
  readonly sourceCommit: SourceCommit | undefined
}

/** Planned changes of an application's folders. */
export interface PlannedChange {
  /**
   * Changes of the objects, with secret values masked. Undefined if the existing files were edited and cannot be read.
   */
  readonly objects: readonly ObjectDiff[] | undefined
  readonly folders: readonly FolderCounts[]
  readonly files: readonly DifferingFile[]
}

/** A commit or an artifact that was created. */
interface Made {
  /** Subject line, such as `deploy(shop/staging): api 1.4.2 → 1.4.3`. */
  readonly subject: string
  /** Changes of the objects, as in `PlannedChange`. */
  readonly objects: readonly ObjectDiff[] | undefined
}

/** Result of a publish to a git repository. */
export type RepositoryOutcome = Rendered & {
  readonly to: 'repository'
  /** Folder of the application in the repository. */
  readonly path: string
  /** Branch of the pull request, if one is requested. */
  readonly requestBranch?: string
} & (
    | {
        readonly kind: 'unchanged'
        readonly branch: string
        readonly commit: string | undefined
        /**
         * State of the branch of a pull request that no longer has changes: removed, or left because the server did not
         * allow the removal.
         */
        readonly withdrawn?: 'removed' | 'left'
      }
    /**
     * The content of the branch, or of the pull request (`isRequest`), already comes from `newer`, a newer commit of
     * the source.
     */
    | { readonly kind: 'newer'; readonly newer: string; readonly isRequest: boolean }
    /**
     * Change that would be made (`dryRun`, `verify`). `newer` is set if the published content comes from a newer commit
     * of the source, which only `verify` does not skip.
     */
    | { readonly kind: 'planned'; readonly branch: string; readonly change: PlannedChange; readonly newer?: string }
    /**
     * The branch of the pull request already has the content, at `commit`. `branch` is the branch that the pull request
     * will be merged into.
     */
    | {
        readonly kind: 'requested'
        readonly branch: string
        readonly commit: string
        readonly request: OpenedRequest
      }
    | (Made & {
        readonly kind: 'pushed'
        /** Branch that was pushed to; with a pull request, the branch that it will be merged into. */
        readonly branch: string
        readonly before: string | undefined
        readonly commit: string
        /** URL of the commit's page on the server; absent if unknown, and with a pull request. */
        readonly page?: string
        readonly request?: OpenedRequest
      })
  )

/** Result of a publish to a registry. */
export type RegistryOutcome = Rendered & {
  readonly to: 'registry'
  /** Name of the artifact with the registry, without the tag. */
  readonly name: string
  readonly tag: string
  /** Reference in the form `NAME:TAG`. */
  readonly reference: string
} & (
    | { readonly kind: 'unchanged'; readonly digest: string }
    /** The content of the tag already comes from `newer`, a newer commit of the source. */
    | { readonly kind: 'newer'; readonly newer: string; readonly digest: string }
    | {
        readonly kind: 'planned'
        readonly digest: string | undefined
        readonly change: PlannedChange
        readonly newer?: string
      }
    | (Made & {
        readonly kind: 'pushed'
        readonly before: string | undefined
        readonly digest: string
        /** Tag that only this artifact has. */
        readonly ownTag: string
        /** Changes as text, object by object. */
        readonly lines: readonly string[]
      })
  )
