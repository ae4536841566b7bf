import type { Rejection } from '../../adapters/git/rejection.ts'
import type { BuildEvent } from '../../builds/events.ts'
import type { FolderCounts } from './folder-counts.ts'

/** The events of a publish and of the builds in it, besides the common ones. */
export type PublishEvent =
  | BuildEvent
  /** The manifests are made; `environment` is that of devctl.yml. */
  | { readonly type: 'compiled'; readonly objects: number; readonly environment?: string }
  /**
   * The newest commit of a branch was fetched: again when another push came first. Without `head` it has no commit yet.
   */
  | { readonly type: 'fetched'; readonly repository: string; readonly branch: string; readonly head?: string }
  /** A push failed, and is retried on the new head. */
  | { readonly type: 'push-failed'; readonly because: Rejection }
  /** The tag of a registry was read. Without `digest` it does not exist yet. */
  | { readonly type: 'tag-read'; readonly reference: string; readonly digest?: string }
  /** The commit of the source that an environment has, and that is promoted. */
  | {
      readonly type: 'promoting'
      readonly environment: string
      readonly application: string
      readonly commit: string
    }
  /** The files of a folder are in the commit or the artifact that was pushed. */
  | { readonly type: 'written'; readonly folder: FolderCounts }
  /** A commit was pushed to a branch; the failed pushes before it are `retries`. */
  | {
      readonly type: 'pushed'
      readonly branch: string
      readonly before?: string
      readonly commit: string
      readonly retries: readonly Rejection[]
    }
  /** An artifact was pushed, also under the tag that only it has. */
  | {
      readonly type: 'artifact-pushed'
      readonly reference: string
      readonly before?: string
      readonly digest: string
      readonly ownTag: string
    }
  /** The pull request of an application that has no changes any more was closed. */
  | { readonly type: 'request-closed'; readonly url: string }
