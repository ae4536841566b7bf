import { readFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { readFile } from '../adapters/files/read-file.ts'
import { statIfFound } from '../adapters/files/stat-if-found.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import { parseContext } from '../compiler/values/images/build-context.ts'
import { PLAIN_BUILD } from '../compiler/values/images/build-spec.ts'
import { isOfficialImage } from '../compiler/values/images/image-reference.ts'
import { DEFAULT_PLATFORM } from '../compiler/values/images/platform.ts'
import { withPlatformImages } from '../platform/session/with-images.ts'
import type { LocalContext } from '../project/session.ts'
import { buildImages } from './build-images.ts'
import { type BuildOutcome, outcomeOf } from './build-outcome.ts'
import { findBuildTarget } from './builder/build-target.ts'
import { chooseBuilder } from './builder/choose-builder.ts'
import type { BuildEvent } from './events.ts'
import { firstInstruction } from './is-dockerfile.ts'
import type { BuildSettings } from './plan/image-input.ts'

export interface DockerfileInput extends BuildSettings {
  /** Absolute path of the Dockerfile. */
  readonly dockerfile: string
  /** Absolute path of the context folder, or the URL of a repository or archive. */
  readonly context: string
  /** Names to push the image under. If empty, the image is built and discarded. */
  readonly names: readonly string[]
  /**
   * Context that supplies the builder, and the login for the registry of the context's platform. If absent, the context
   * is chosen as for any other command.
   */
  readonly devctlContext?: string | undefined
}

/** Builds one image from a Dockerfile; the manifest is ignored. Throws as `build` does. */
export async function buildDockerfile(
  { workspace: here, signal, on }: LocalContext<BuildEvent>,
  { dockerfile, context, names, devctlContext, ...settings }: DockerfileInput,
): Promise<BuildOutcome> {
  const parsed = parseContext(context)
  if (!parsed.ok) throw new UserError(`the context \`${context}\`: ${parsed.reason}`)
  if ('folder' in parsed.value) checkFolder(parsed.value.folder, here.cwd)
  checkDockerfile(dockerfile, here.cwd)
  if (settings.push !== false) names.forEach(checkName)
  const name = basename(dockerfile)
  const [reference = '', ...tags] = names
  const planned = { service: name, span: undefined, reference, tags, dependsOn: [] }
  const platform = here.env[DEFAULT_PLATFORM]
  const platforms = platform ? [platform] : []
  // In a remote context, a path is a path in the context.
  const source = 'folder' in parsed.value ? { path: dockerfile } : { text: readFileSync(dockerfile, 'utf8') }
  const specOf = () => ({ ...PLAIN_BUILD, platforms, context: parsed.value, dockerfile: source })
  const target = await findBuildTarget(here, { context: devctlContext })
  const chosen = chooseBuilder(here, target.stored, target.namespace)
  const workspace = await withPlatformImages(here, target, signal).catch((error: unknown) => {
    // The builder may belong to another context, and the image may be for a platform that does not answer without the
    // builder.
    if (chosen.platform || !(error instanceof UserError)) throw error
    on({ type: 'warning', text: `builds without a login for the registry of the platform: ${error.message}` })
    return here
  })
  return outcomeOf(on, () =>
    buildImages([{ ...planned, specOf }], { workspace, on, chosen, settings, images: new Map(), signal }),
  )
}

function checkDockerfile(path: string, cwd: string): void {
  const file = readFile(path)
  const shown = `the Dockerfile \`${relative(cwd, path) || '.'}\``
  switch (file.kind) {
    case 'missing':
      throw new UserError(`${shown} does not exist`, { hint: 'check the path after `-f`' })
    case 'folder':
      throw new UserError(`${shown} is a folder`, {
        hint: `name a file in it: \`-f ${join(relative(cwd, path), 'Dockerfile')}\``,
      })
    case 'unreadable':
      throw new UserError(`${shown} cannot be read: ${file.reason}`, { hint: 'check its permissions' })
    case 'file':
      if (firstInstruction(file.bytes) === undefined)
        throw new UserError(`${shown} has no instructions`, { hint: 'begin it with `FROM IMAGE`' })
  }
}

function checkFolder(folder: string, cwd: string): void {
  const found = statIfFound(folder)
  if (found?.isDirectory()) return
  throw new UserError(`the context \`${relative(cwd, folder) || '.'}\` is not a folder`, {
    hint: 'name the folder whose files the Dockerfile copies: `devctl build -f Dockerfile FOLDER`',
  })
}

function checkName(name: string): void {
  if (!isOfficialImage(name)) return
  throw new UserError(`the image cannot be pushed as \`${name}\`, the name of an official image of Docker Hub`, {
    hint: `write \`--tag REGISTRY/${name}\``,
  })
}
