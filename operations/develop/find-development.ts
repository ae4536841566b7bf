import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { Development } from '../../compiler/manifest/development.ts'
import type { DevctlManifest } from '../../compiler/manifest/manifest.ts'
import { manifestOf } from '../project/open-project.ts'
import type { OpenProject } from '../project/opened-project.ts'
import { type ChooseDev, chooseDev } from './choose.ts'

/** A development container of a manifest. */
export interface FoundDevelopment {
  readonly development: Development
  /** Absolute: what the paths of the manifest are relative to. */
  readonly folder: string
  readonly manifest: DevctlManifest
}

/** The development containers of a project; throws a UserError that says what to add if there is none. */
export function developmentsOf(project: OpenProject): readonly FoundDevelopment[] {
  const manifest = manifestOf(project)
  const all = manifest ? [...manifest.dev.values()] : []
  if (!manifest || all.length === 0)
    throw new UserError(
      manifest ? `${manifest.shown} has no development containers` : 'there is no manifest with development containers',
      { hint: 'add `dev`, such as `dev: {api: {sync: [".:/app"]}}`, or run `devctl init`' },
    )
  return all.map(development => ({ development, folder: manifest.folder, manifest }))
}

/** The development container that a command is about, as `chooseDev` chooses it. */
export async function findDevelopment(
  project: OpenProject,
  name: string | undefined,
  choose: ChooseDev | undefined,
): Promise<FoundDevelopment> {
  const all = developmentsOf(project)
  const names = all.map(({ development }) => development.name)
  const chosen = await chooseDev(names, name, choose)
  return all[names.indexOf(chosen)]!
}
