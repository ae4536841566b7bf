import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../cases.ts'
import type { Cluster } from './cluster.ts'

/** A GitOps controller as it follows one folder of a repository, with the objects that devctl writes for it. */
export interface Controller {
  readonly name: string
  /**
   * Makes it look now, and waits until the cluster is at the head of the branch, and the controller finds all of it
   * well.
   */
  reconcile(): Promise<void>
  /**
   * Waits until an object that is deleted by hand is made again as the head of the branch has it, and not as it was.
   */
  mayDelete(): Promise<void>
  /** Makes it look now, and waits until it tells that the head of the branch is not well. */
  fails(): Promise<void>
  /** Makes it look again and again; gives how often it has changed anything so far. Throws where it is not content. */
  syncs(): Promise<number>
  /** Takes it away; what it is responsible for goes first. */
  remove(): Promise<void>
}

/**
 * Returns true if controllers run, whose resources the API server then has at `path`. They keep a processor busy, so
 * the test cluster starts without them; where it is the one beside the checkout, they are started now.
 */
export async function ensureControllers(
  cluster: Cluster | undefined,
  name: 'flux' | 'argocd',
  path: string,
): Promise<boolean> {
  if (cluster === undefined || !(await cluster.hasNodes())) return false
  const isThere = async () => (await cluster.send('GET', path)).status === 200
  const program = join(root, '../shared/cluster/cluster')
  const home = dirname(process.env['KUBECONFIG'] ?? '')
  if (existsSync(program) && existsSync(join(home, 'run/kubelet.pid')))
    await promisify(execFile)(program, ['up', `--${name}`], {
      env: { ...process.env, TESTCLUSTER_HOME: home },
      timeout: 300_000,
    })
  return isThere()
}
