import type { Rejection } from '../../adapters/git/rejection.ts'
import type { BuildEvent } from '../../builds/events.ts'
import type { FolderCounts } from './folder-counts.ts'

/** Events of a publish and of its builds, in addition to the common ones. */
export type PublishEvent =
  | BuildEvent
  /** The manifests are compiled; `environment` is the environment of devctl.yml. */
  | { readonly type: 'compiled'; readonly objects: number; readonly environment?: string }
  /**
   * The newest commit of a branch was fetched; sent again if another push came first. If `head` is absent, the branch
   * has no commit yet.
   */
  | { readonly type: 'fetched'; readonly repository: string; readonly branch: string; readonly head?: string }
  /** A push failed, and is retried on top of the branch's new head. */
  | { readonly type: 'push-failed'; readonly because: Rejection }
  /** The tag of a registry was read. If `digest` is absent, the tag does not exist yet. */
  | { readonly type: 'tag-read'; readonly reference: string; readonly digest?: string }
  /** Reports the source commit that is promoted from an environment. */
  | {
      readonly type: 'promoting'
      readonly environment: string
      readonly application: string
      readonly commit: string
    }
  /** The files of a folder were included in the pushed commit or artifact. */
  | { readonly type: 'written'; readonly folder: FolderCounts }
  /** A commit was pushed to a branch. `retries` contains the reasons why earlier pushes failed. */
  | {
      readonly type: 'pushed'
      readonly branch: string
      readonly before?: string
      readonly commit: string
      readonly retries: readonly Rejection[]
    }
  /** An artifact was pushed, also under a tag that only this artifact has. */
  | {
      readonly type: 'artifact-pushed'
      readonly reference: string
      readonly before?: string
      readonly digest: string
      readonly ownTag: string
    }
  /** A pull request was closed, because its application no longer has changes. */
  | { readonly type: 'request-closed'; readonly url: string }
