import { basename, dirname, isAbsolute, join, resolve } from 'node:path/posix'
import { diagnostic } from '../../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../../diagnostics/reporter.ts'
import type { CompilerHost } from '../../../host.ts'
import type { LoadOptions, ManifestInputs } from '../../../options.ts'
import type { SecretPlaces } from '../../../text/secret-places.ts'
import { foreignFileIn, foreignText } from '../../../values/foreign-files.ts'
import { normalizeProjectName } from '../../../values/project-name.ts'
import { isVariableWithSecret } from '../../../values/secrets/secret-names.ts'
import { isStream } from '../../../values/stream-path.ts'
import { badEnvironmentFlag, FROM_SHELL, type Variable, VariableScope } from '../variables.ts'
import type { Sources } from './sources.ts'

/** The files of a project, and the variables and profiles to load them with. */
export interface Located {
  /** Absolute path of the project folder. Relative paths in the files are resolved against it. */
  readonly directory: string
  /** Absolute paths of the Compose files; `-` for standard input. */
  readonly files: readonly string[]
  readonly variables: VariableScope
  readonly profiles: readonly string[]
  /** The project name from an option or COMPOSE_PROJECT_NAME, already validated. */
  readonly explicitName?: string
}

/**
 * Default file names in Docker Compose's order of preference: `.yaml` first for base files, `.yml` first for overrides.
 */
const BASE_NAMES = ['compose.yaml', 'compose.yml', 'docker-compose.yml', 'docker-compose.yaml']
/** Names that Okteto gives to Compose files. They are used only if no file has a default name. */
const OKTETO_NAMES = ['okteto-stack.yml', 'okteto-stack.yaml', 'okteto-compose.yml', 'okteto-compose.yaml']
const OVERRIDE_NAMES = [
  'compose.override.yml',
  'compose.override.yaml',
  'docker-compose.override.yml',
  'docker-compose.override.yaml',
]
/** Subfolder that is searched after the project folder. */
const OWN_FOLDER = '.devctl'

const noFile = diagnostic({
  code: 'files/no-compose-file',
  severity: 'error',
  explain:
    'Neither `-f` nor `COMPOSE_FILE` names a Compose file, and neither this folder nor a parent folder has a manifest or a Compose file. devctl looks for `devctl.yml`, `devctl.yaml`, `compose.yaml`, `compose.yml`, `docker-compose.yml` and `docker-compose.yaml`, also in `.devctl`. There is no Helm chart and there are no Kubernetes manifests in this folder either, which `deploy` could apply as they are. If the folder has a file of another tool (Skaffold, Tilt, Score, DevSpace, dev containers), the hint says how to start from it: docs/migrate.md.',
  text: (p: { directory: string; foreign: ReturnType<typeof foreignFileIn> }) => ({
    message: `no manifest or Compose file found in \`${p.directory}\` or its parent folders${p.foreign ? `; ${foreignText(p.foreign.path, p.foreign.file)}` : ''}`,
    hint: p.foreign?.file.hint ?? 'name one with `-f`, or create `compose.yaml`',
  }),
})
const severalFiles = diagnostic({
  code: 'files/several-compose-files',
  severity: 'warning',
  explain:
    'A folder has several files with a default name. devctl uses the first of `compose.yaml`, `compose.yml`, `docker-compose.yml`, `docker-compose.yaml` (for overrides: `.yml` before `.yaml`) and ignores the others. Remove them, or name the one you want with `-f`.',
  text: (p: { used: string; ignored: readonly string[] }) => ({
    message: `\`${p.used}\` is used; ${p.ignored.map(name => `\`${name}\``).join(', ')} ${p.ignored.length === 1 ? 'is' : 'are'} ignored`,
  }),
})
const badName = diagnostic({
  code: 'project/bad-name',
  severity: 'error',
  explain:
    'A project name set with an option or `COMPOSE_PROJECT_NAME` is not normalized. It must consist of lower-case letters, digits, `-` and `_`, and begin with a letter or digit.',
  text: (p: { name: string }) => ({
    message: `\`${p.name}\` is not a valid project name`,
    hint: p.name === '' ? undefined : `use \`${normalizeProjectName(p.name) || 'app'}\``,
  }),
})

/**
 * Finds the files of a project. Returns undefined if there are no files or the name is invalid, and reports the error.
 */
export function locateProject(
  options: LoadOptions,
  host: CompilerHost,
  sources: Sources,
  reporter: Reporter,
  secrets: SecretPlaces,
): Located | undefined {
  const from = options.workingDirectory
  const given = (options.files ?? []).map(path => (path === '-' ? path : resolve(from, path)))
  const firstFile = given.find(path => !isStream(path))
  let directory = options.projectDirectory
    ? resolve(from, options.projectDirectory)
    : firstFile
      ? projectFolder(firstFile)
      : (options.manifest?.searchIn ?? from)

  const disabled = environmentFlag(host, 'COMPOSE_DISABLE_ENV_FILE', reporter)
  const envFiles = (folder: string) => {
    if (options.envFiles?.length) return options.envFiles.map(path => ({ path: resolve(from, path) }))
    const path = join(folder, '.env')
    return disabled || host.stat(path)?.kind !== 'file' ? [] : [{ path }]
  }
  const { manifest } = options
  let variables = new VariableScope(host, new Map(), givenVariables(manifest), secrets).withFiles(
    envFiles(directory),
    sources,
    reporter,
  )

  let files: readonly string[] = given
  if (files.length === 0) {
    const listed = variables.lookup('COMPOSE_FILE')
    if (listed?.value) {
      const separator = variables.lookup('COMPOSE_PATH_SEPARATOR')?.value || ':'
      // Paths from a `.env` file beside a manifest are relative to the manifest's folder, even if devctl runs in a
      // subfolder.
      const base = listed.origin === FROM_SHELL ? from : (manifest?.searchIn ?? from)
      files = listed.value.split(separator).map(path => (path === '-' ? path : resolve(base, path)))
    } else {
      const found = discover(directory, manifest, host, sources, reporter)
      if (!found) {
        const foreign = foreignFileIn(path => host.stat(join(directory, path))?.kind === 'file')
        reporter.report(noFile, undefined, { directory: sources.display(directory), foreign })
        return undefined
      }
      files = found
    }
    const first = files.find(path => !isStream(path))
    if (!options.projectDirectory && first) {
      const moved = projectFolder(first)
      if (moved !== directory) {
        directory = moved
        variables = variables.withFiles(envFiles(directory), sources, reporter)
      }
    }
  }

  files = [...files, ...(manifest?.files ?? []).filter(path => !files.includes(path))]
  const profiles =
    options.profiles ??
    (variables.lookup('COMPOSE_PROFILES')?.value ?? '')
      .split(',')
      .map(profile => profile.trim())
      .filter(profile => profile !== '')

  const explicitName = options.projectName ?? (variables.lookup('COMPOSE_PROJECT_NAME')?.value || undefined)
  if (explicitName !== undefined && (explicitName === '' || normalizeProjectName(explicitName) !== explicitName)) {
    reporter.report(badName, undefined, { name: explicitName })
    return undefined
  }
  return { directory, files, variables, profiles, ...(explicitName !== undefined && { explicitName }) }
}

/** Returns the folder that relative paths are resolved against: the folder of the file, or the parent of `.devctl`. */
function projectFolder(file: string): string {
  const folder = dirname(file)
  return basename(folder) === OWN_FOLDER ? dirname(folder) : folder
}

function givenVariables(manifest: ManifestInputs | undefined): ReadonlyMap<string, Variable> {
  return new Map(
    (manifest?.variables ?? []).map(({ name, value, key, span, isSecret = isVariableWithSecret(name, value) }) => {
      const { file, start } = key ?? span
      const origin = `${file.path}:${file.position(start).line}`
      return [name, { value, origin, ...(isSecret && { isSecret: true }) }]
    }),
  )
}

function discover(
  from: string,
  manifest: ManifestInputs | undefined,
  host: CompilerHost,
  sources: Sources,
  reporter: Reporter,
): readonly string[] | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    for (const inside of [folder, join(folder, OWN_FOLDER)]) {
      const basesIn = (names: readonly string[]) => names.filter(name => host.stat(join(inside, name)))
      const own = basesIn(BASE_NAMES)
      const bases = own.length > 0 ? own : basesIn(OKTETO_NAMES)
      if (bases.length === 0) continue
      // The environment's own files replace the override file, which is for local use.
      const overrides = manifest?.files?.length ? [] : OVERRIDE_NAMES.filter(name => host.stat(join(inside, name)))
      for (const names of [bases, overrides]) {
        const [used, ...ignored] = names
        const display = (name: string) => sources.display(join(inside, name))
        if (used && ignored.length > 0)
          reporter.report(severalFiles, undefined, { used: display(used), ignored: ignored.map(display) })
      }
      return [...bases.slice(0, 1), ...overrides.slice(0, 1)].map(name => join(inside, name))
    }
    if (folder === dirname(folder) || !isAbsolute(folder) || manifest?.searchIn !== undefined) return undefined
  }
}

function environmentFlag(host: CompilerHost, name: string, reporter: Reporter): boolean {
  const value = host.environment.get(name)
  if (value === undefined) return false
  if (/^(1|t|true|T|TRUE|True)$/.test(value)) return true
  if (!/^(0|f|false|F|FALSE|False)$/.test(value)) reporter.report(badEnvironmentFlag, undefined, { name })
  return false
}
