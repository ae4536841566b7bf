import { dirname } from 'node:path'
import type { Project } from '../../compiler/compose/project.ts'
import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import { count } from '../../compiler/diagnostics/render/summary.ts'
import { Reporter } from '../../compiler/diagnostics/reporter.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { Development } from '../../compiler/manifest/development.ts'
import { planNames } from '../../compiler/plan/names.ts'
import { shownPlace } from '../../compiler/text/source.ts'
import { boundaryOf } from '../../project/boundary.ts'
import { compileFiles } from '../../project/compile-files.ts'
import type { LoadInput, PlanInput } from '../../project/input.ts'
import { createHost, variablesFor } from '../../project/node-host.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import { errorsOf } from '../../project/own-errors.ts'
import type { Workspace } from '../../project/workspace.ts'
import { allCandidatesOf, candidatesOf, chooseCandidate, nothingToSync, serviceNamed } from './candidates.ts'
import type { ChooseDev } from './choose.ts'
import type { FolderHost } from './compose-folders.ts'
import {
  type ComposeDevelopment,
  declaredCandidate,
  developmentOf,
  findService,
  withHostVolumes,
} from './from-compose.ts'

/**
 * Selection of a development container: one that the manifest declares without `sync`, or a service of the Compose
 * file. If `service` is undefined, the user may have to choose it.
 */
export type WhichDevelopment =
  | { readonly declared: Development }
  | { readonly service: string | undefined; readonly choose: ChooseDev | undefined }

export type FoundInCompose =
  | (ComposeDevelopment & {
      readonly kind: 'found'
      /** Absolute path of the Compose file's folder. */
      readonly folder: string
      /** Absolute paths of the Compose and env files. */
      readonly sources: readonly string[]
    })
  | Refused

/** Result if the files have errors. */
interface Refused {
  readonly kind: 'refused'
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * Returns the development container that the Compose files describe. `input` contains the name of the environment and
 * the namespace, as for `deploy`. Throws a UserError if the service does not exist, if no service can be developed, or
 * if there is no Compose file.
 */
export async function composeDevelopment(
  workspace: Workspace,
  input: LoadInput & Pick<PlanInput, 'name' | 'namespace'>,
  project: OpenProject,
  which: WhichDevelopment,
): Promise<FoundInCompose> {
  const compiled = await compileFiles(workspace, [], input, input, {
    project,
    plansErrors: true,
    leavesFoldersToUp: true,
  })
  const { project: model, plan, loaded, diagnostics } = compiled
  const host = hostOf(workspace, input, project)
  const hasErrors = count(diagnostics).error > 0
  if (hasErrors && (!model || !plan || !loaded || isOfAll(which, model, host))) return { kind: 'refused', diagnostics }
  if (!model || !plan || model.services.size === 0) throw noCompose(which, project)
  const candidate =
    'declared' in which
      ? declaredCandidate(which.declared, model, host)
      : await chooseCandidate(model, host, which.service, which.choose)
  // Errors of other services are reported when they are deployed.
  const own = loaded ? errorsOf(candidate.service.name, loaded.tree, diagnostics) : []
  if (own.length > 0) return { kind: 'refused', diagnostics: own }
  const found =
    'declared' in which
      ? withHostVolumes(which.declared, candidate, model, host)
      : developmentOf(candidate, model, plan, host)
  const folder = loaded?.directory ?? (project.manifest ? dirname(project.manifest.path) : workspace.cwd)
  return { kind: 'found', ...found, folder, sources: loaded?.sources ?? [] }
}

/**
 * True if the selected service does not exist or, if none is selected by name, no service is a candidate. Errors in the
 * files may be the reason.
 */
const isOfAll = (which: WhichDevelopment, model: Project, host: FolderHost): boolean =>
  'service' in which &&
  (which.service === undefined ? candidatesOf(model, host).length === 0 : !serviceNamed(model, which.service))

/**
 * Returns the Kubernetes names of all services that can be developed (`allCandidatesOf`). Throws a UserError if there
 * are none.
 */
export async function composeCandidates(
  workspace: Workspace,
  input: LoadInput & Pick<PlanInput, 'name' | 'namespace'>,
  project: OpenProject,
): Promise<{ readonly kind: 'found'; readonly names: readonly string[] } | Refused> {
  const extra = { project, leavesFoldersToUp: true }
  const { project: model, diagnostics } = await compileFiles(workspace, [], input, input, extra)
  if (count(diagnostics).error > 0) return { kind: 'refused', diagnostics }
  if (!model || model.services.size === 0) throw noCompose({ service: undefined, choose: undefined }, project)
  const all = allCandidatesOf(model, hostOf(workspace, input, project))
  if (all.length === 0) throw nothingToSync(undefined, model)
  const names = planNames(model, {}, new Reporter())
  return { kind: 'found', names: all.map(({ service }) => names.of(service.name)) }
}

/**
 * Returns the names of the variables that the Compose files set for the service of a development container; empty if
 * the service does not exist or the files cannot be read.
 */
export async function composeVariables(
  workspace: Workspace,
  input: LoadInput & Pick<PlanInput, 'name' | 'namespace'>,
  project: OpenProject,
  development: Development,
): Promise<readonly string[]> {
  const { project: model } = await compileFiles(workspace, [], input, input, { project })
  const service = model && findService(development, model)
  return service ? [...service.environment, ...service.secretEnvironment].map(({ name }) => name) : []
}

const hostOf = (workspace: Workspace, input: LoadInput, project: OpenProject) =>
  createHost({ ...variablesFor(workspace), boundary: boundaryOf(workspace, input, project) })

function noCompose(which: WhichDevelopment, { manifest }: OpenProject): UserError {
  if ('declared' in which)
    return new UserError(
      `development container \`${which.declared.name}\` has no \`sync\`, and there is no Compose file`,
      {
        notes: [shownPlace(which.declared.span)],
        hint: 'add `sync: [".:/app"]`',
      },
    )
  return new UserError(
    manifest ? `\`${manifest.shown}\` has no development containers` : 'there is no service to work on',
    { hint: 'add `dev: {NAME: {sync: [".:/app"]}}` to devctl.yml, or run `devctl init`' },
  )
}
