import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { withHome } from '../../platform/session/target-with-home.ts'
import { configHome } from '../../project/contexts/home.ts'
import { isPlatform, readContexts } from '../../project/contexts/store.ts'
import { findTarget, type Target, type TargetOptions } from '../../project/contexts/target.ts'
import type { Workspace } from '../../project/workspace.ts'

/** The part of a target that determines the builder, the registry and the login for the registry. */
export type BuildTarget = Pick<Target, 'stored' | 'context' | 'namespace'>

/** Sources that may name the target of a build. */
export interface BuildTargetSources {
  /** Value of the option `--context`. */
  readonly context?: string | undefined
  /** Target of the environment that an option selected. It has the precedence of an option. */
  readonly environment?: TargetOptions | undefined
  readonly manifest?: TargetOptions | undefined
}

/**
 * Returns the target of a build. A build needs no cluster: if no target is found, returns one without a context. Throws
 * a UserError if the missing target was named with `--context`, or is a platform, which would run the build.
 */
export async function findBuildTarget(
  workspace: Pick<Workspace, 'cwd' | 'env'>,
  { context, environment, manifest = {} }: BuildTargetSources = {},
): Promise<BuildTarget> {
  let target: Target
  try {
    target = await findTarget(
      workspace,
      { ...environment, ...(context !== undefined && { context, setBy: {} }) },
      manifest,
    )
  } catch (error) {
    const needsIt = context !== undefined || namesPlatform(workspace, environment, manifest)
    if (needsIt || !(error instanceof UserError)) throw error
    return { context: '', namespace: '', stored: { name: '' } }
  }
  return withHome(workspace, target)
}

/**
 * Returns true if a setting other than `--context` names a platform, by the form of its address or with `DEVCTL_URL`.
 * Such a context is not found if the user has not logged in to the platform, or if its address is invalid.
 */
function namesPlatform(
  around: Pick<Workspace, 'cwd' | 'env'>,
  environment: TargetOptions | undefined,
  manifest: TargetOptions,
): boolean {
  if (environment?.context) return isPlatform(environment.context)
  const { DEVCTL_URL: url, DEVCTL_CONTEXT: named } = around.env
  return Boolean(url) || isPlatform(named || manifest.context || readContexts(configHome(around)).current || '')
}
