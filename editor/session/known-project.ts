import { resolve } from 'node:path'
import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { SecretPlaces } from '../../compiler/text/secret-places.ts'
import { KnownSecrets } from '../../compiler/values/secrets/known-secrets.ts'
import { type CompiledProject, compileFiles } from '../../project/compile-files.ts'
import type { LoadInput } from '../../project/input.ts'
import type { Workspace } from '../../project/workspace.ts'

/** A project as devctl compiles it in a folder. */
export interface KnownProject {
  /** Folder that devctl would run in; paths in messages are relative to it. */
  readonly folder: string
  readonly compiled: CompiledProject
  /** Absolute paths of the files that were read, and of the files that have diagnostics. */
  readonly files: ReadonlySet<string>
  /** Texts of the env files that supply the values of `${NAME}` in the files. The keys are absolute paths. */
  readonly envFiles: ReadonlyMap<string, string>
  /** Secrets of the project, to mask them in messages and values. */
  readonly secrets: KnownSecrets
}

/** Time limit of a compilation in an editor, in seconds. `DEVCTL_LIMITS` can raise it. */
const SECONDS = 10
const LARGEST_ENV_FILE = 1 << 20

/**
 * Compiles the project of a folder as `devctl validate` does. An error that has no position, such as a refused
 * variable of the shell, becomes a diagnostic without a position.
 */
export async function compileIn(folder: string, loading: LoadInput, workspace: Workspace): Promise<KnownProject> {
  const secrets = new KnownSecrets()
  secrets.addVariables(workspace.env)
  const read = new Set<string>()
  const texts = new Map<string, Uint8Array>()
  const onRead = (path: string, bytes: Uint8Array) => {
    read.add(path)
    if (bytes.length <= LARGEST_ENV_FILE) texts.set(path, bytes)
  }
  const limits = `seconds=${SECONDS},${workspace.env.DEVCTL_LIMITS ?? ''}`
  const own: Workspace = { ...workspace, cwd: folder, env: { ...workspace.env, DEVCTL_LIMITS: limits }, secrets }
  const compiled = await compileFiles(own, [], loading, {}, { onRead }).catch(error => ({
    diagnostics: [toDiagnostic(error)],
    secrets: new SecretPlaces(),
  }))
  const { manifest, diagnostics } = compiled as CompiledProject
  if (manifest) read.add(resolve(folder, manifest.path))
  for (const { span } of diagnostics) if (span?.file.location.startsWith('/')) read.add(span.file.location)
  const envFiles = new Map(
    variableFilesOf(folder, loading, compiled as CompiledProject).flatMap(path => {
      const bytes = texts.get(path)
      return bytes ? [[path, new TextDecoder().decode(bytes)] as const] : []
    }),
  )
  return { folder, compiled, files: read, envFiles, secrets }
}

/**
 * Returns the paths of the env files from which `${NAME}` is substituted: the env files of the Compose files and of the
 * manifest. The `env_file` of a service is not included. If the Compose files cannot be loaded, uses the env files with
 * the usual names.
 */
function variableFilesOf(
  folder: string,
  { envFile }: LoadInput,
  { loaded, manifest }: CompiledProject,
): readonly string[] {
  const given = (envFile ?? []).map(path => resolve(folder, path))
  const beside = [...(manifest ? [manifest.folder] : []), ...(loaded ? [] : [folder])].map(one => resolve(one, '.env'))
  return [...new Set([...(loaded?.variableFiles ?? []), ...(given.length > 0 ? given : beside)])]
}

function toDiagnostic(error: unknown): Diagnostic {
  if (!(error instanceof UserError)) throw error
  const { message, hint, place } = error
  // Errors of the command line have no code.
  return { code: '', severity: 'error', message, ...(place && { span: place }), ...(hint !== undefined && { hint }) }
}
