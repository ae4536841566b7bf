/** A GitOps controller as it follows one folder of a repository, with the objects that devctl writes for it. */
export interface Controller {
  readonly name: string
  /** Makes it look now, and waits until the cluster is at the head of the branch, and the controller finds all of it well. */
  reconcile(): Promise<void>
  /** Waits until an object that is deleted by hand is made again as the head of the branch has it, and not as it was. */
  mayDelete(): Promise<void>
  /** Makes it look now, and waits until it tells that the head of the branch is not well. */
  fails(): Promise<void>
  /** Makes it look again and again; gives how often it has changed anything so far. Throws where it is not content. */
  syncs(): Promise<number>
  /** Takes it away; what it is responsible for goes first. */
  remove(): Promise<void>
}
