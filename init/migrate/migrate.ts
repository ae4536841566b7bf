import { existsSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { changeFile, readText } from '../../adapters/files/locked-file.ts'
import { readFile } from '../../adapters/files/read-file.ts'
import { realPath } from '../../adapters/files/real-path.ts'
import { printYaml } from '../../adapters/files/yaml-print.ts'
import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import { Reporter } from '../../compiler/diagnostics/reporter.ts'
import { UsageError, UserError } from '../../compiler/diagnostics/user-error.ts'
import { isOktetoManifest } from '../../compiler/manifest/okteto.ts'
import { parseYaml } from '../../compiler/text/parse.ts'
import { SourceFile } from '../../compiler/text/source.ts'
import { isMap } from '../../compiler/text/tree.ts'
import { leadsOut } from '../../compiler/values/leads-out.ts'
import { isStream } from '../../compiler/values/stream-path.ts'
import { outsideOf } from '../../project/boundary.ts'
import { composeFilesIn } from '../../project/names/environment-name.ts'
import { oktetoManifestIn } from '../../project/names/nearest-manifests.ts'
import { refuseForeign } from '../../project/open-project.ts'
import { checkoutOf } from '../../project/project-folder.ts'
import type { LocalContext } from '../../project/session.ts'
import type { Workspace } from '../../project/workspace.ts'
import { withEquivalents } from './compose-edits.ts'
import { composeOfDockerRun } from './docker-run.ts'
import { errorsInOkteto, manifestOfOkteto } from './okteto.ts'

export interface MigrateInput {
  /** Files to read; `-` is standard input. If empty, the Okteto manifest and Compose files of the folder. */
  readonly files?: readonly string[] | undefined
  /** Arguments of a `docker run` command. */
  readonly command?: readonly string[] | undefined
  /** Path of the file to write, if there is one new file. Default: `devctl.yml` or `compose.yaml`. */
  readonly to?: string | undefined
  /** True to write the files. */
  readonly write?: boolean | undefined
  /** True to replace files that the command did not read. A copy is kept. */
  readonly replace?: boolean | undefined
}

/** A file that the command makes or changes. */
export interface MigratedFile {
  /** Path relative to the folder that devctl runs in. */
  readonly path: string
  readonly text: string
  /** Current text, if the file exists. */
  readonly before?: string
  /** True if the file is an edited input, and not a new file. */
  readonly isEdit: boolean
}

export type MigrateOutcome =
  /** The input has errors, so nothing is written. */
  | { readonly kind: 'refused'; readonly diagnostics: readonly Diagnostic[] }
  | {
      readonly kind: 'migrated'
      readonly files: readonly MigratedFile[]
      readonly diagnostics: readonly Diagnostic[]
      readonly isWritten: boolean
      /** Paths of the copies of replaced files. */
      readonly copies: readonly string[]
    }

/**
 * Converts files of other tools into files of devctl. With `write`, writes all of them, or none if one of them cannot
 * be written. Throws a UserError if there is nothing to convert.
 */
export async function migrate(
  { workspace }: Pick<LocalContext, 'workspace'>,
  input: MigrateInput,
): Promise<MigrateOutcome> {
  const reporter = new Reporter()
  const sources = await sourcesOf(workspace, input)
  const problems: Diagnostic[] = []
  const made: MigratedFile[] = []
  for (const source of sources) {
    const file = await convert(source, workspace, input, { reporter, problems })
    if (file) made.push(file)
  }
  // The result has the present format and names.
  const diagnostics = [...reporter.diagnostics(), ...problems].filter(({ code }) => !CARRIED_OVER.has(code))
  if (reporter.hasErrors || problems.length > 0) return { kind: 'refused', diagnostics }
  if (made.length === 0) throw nothingToMigrate(input)
  refuseSamePath(made)
  const files = made.filter(({ text, before }) => text !== before)
  const copies = input.write ? await write(files, workspace, input) : []
  return { kind: 'migrated', files: made, diagnostics, isWritten: input.write ?? false, copies }
}

/**
 * Codes of the diagnostics about a manifest that are not reported, because they are about an old format or old names,
 * which the conversion replaces.
 */
const CARRIED_OVER: ReadonlySet<string> = new Set(['okteto/single-container', 'okteto/old-name'])

/** Throws a UsageError if two results would be the same file. */
function refuseSamePath(files: readonly MigratedFile[]): void {
  const double = files.find(({ path }, index) => files.findIndex(other => other.path === path) !== index)
  if (double)
    throw new UsageError(`two of the results would be \`${double.path}\``, {
      hint: 'run `devctl migrate` for one file at a time, with `--to PATH`',
    })
}

/** Text to convert: the content of a file, or a command. */
interface Source {
  /** Path for messages. */
  readonly shown: string
  /** Absolute path; undefined for a command and standard input. */
  readonly path?: string
  readonly text: string
}

async function sourcesOf(workspace: Workspace, { files = [], command }: MigrateInput): Promise<readonly Source[]> {
  const { cwd } = workspace
  if (command) {
    const words = command.map(word => (/^[\w./:=@,+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    const text = /^(?:sudo|docker|podman|nerdctl)$/.test(words[0] ?? '')
      ? words.join(' ')
      : `docker run ${words.join(' ')}`
    return [{ shown: 'the command', text }]
  }
  const okteto = oktetoManifestIn(cwd)
  const found = files.length > 0 ? files : [...(okteto === undefined ? [] : [okteto]), ...composeFilesIn(cwd)]
  return Promise.all(
    found.map(async (file): Promise<Source> => {
      if (isStream(file)) return { shown: '-', text: new TextDecoder().decode(await workspace.readStdin()) }
      const path = resolve(cwd, file)
      const text = textOf(path, file)
      refuseForeign(file, text)
      return { shown: relative(cwd, path) || basename(path), path, text }
    }),
  )
}

/** Returns the text of a file or pipe. Throws a UserError if it cannot be read. */
function textOf(path: string, shown: string): string {
  const content = readFile(path)
  if (content.kind === 'file') return Buffer.from(content.bytes).toString('utf8')
  if (content.kind === 'missing') throw new UserError(`the file \`${shown}\` does not exist`)
  throw new UserError(`cannot read \`${shown}\`: ${content.kind === 'folder' ? 'it is a folder' : content.reason}`, {
    hint: 'name a file, or `-` for standard input',
  })
}

/** Remarks about the sources: notes of the conversion, and errors that make a result impossible. */
interface Remarks {
  readonly reporter: Reporter
  readonly problems: Diagnostic[]
}

async function convert(
  source: Source,
  workspace: Workspace,
  { to }: MigrateInput,
  { reporter, problems }: Remarks,
): Promise<MigratedFile | undefined> {
  const { path, shown, text } = source
  const file = new SourceFile(shown, text, path ?? shown)
  const target = (name: string): Omit<MigratedFile, 'text'> => {
    const written = resolve(workspace.cwd, to ?? name)
    const before = readText(written)
    return {
      path: relative(workspace.cwd, written),
      ...(before !== undefined && { before }),
      isEdit: false,
    }
  }
  if (path !== undefined && isOktetoManifest(path)) {
    const folder = dirname(path)
    const beside = basename(folder) === '.okteto' ? dirname(folder) : folder
    problems.push(...errorsInOkteto(path, workspace))
    const result = await manifestOfOkteto(file, path, workspace, reporter)
    return result === undefined ? undefined : { ...target(join(beside, 'devctl.yml')), text: result }
  }
  if (path !== undefined && isComposeFile(path, file)) {
    const result = await withEquivalents(file, reporter)
    if (result === undefined) return undefined
    // `--to` writes a copy, so the Compose file itself stays.
    return to === undefined
      ? { path: shown, text: result, before: text, isEdit: true }
      : { ...target(to), text: result }
  }
  // A byte order mark is not part of the first command.
  const script = text.startsWith('\ufeff') ? new SourceFile(shown, text.slice(1), path ?? shown) : file
  const compose = composeOfDockerRun(script, reporter)
  if (!compose) return undefined
  const named = (names: ReadonlyMap<string, string | undefined>) =>
    Object.fromEntries([...names].map(([key, name]) => [key, name === undefined ? null : { name }]))
  const { services, volumes, networks } = compose
  const model = {
    services,
    ...(volumes.size > 0 && { volumes: named(volumes) }),
    ...(networks.size > 0 && { networks: named(networks) }),
  }
  return { ...target('compose.yaml'), text: await printYaml(model) }
}

/**
 * True if a file is a Compose file. In a YAML file, a key `services` is enough. Scripts and pages may only contain a
 * Compose file as an example, so any other file has to be a Compose file as a whole.
 */
function isComposeFile(path: string, file: SourceFile): boolean {
  if (/\.ya?ml$/i.test(path)) return /^\ufeff?["']?services["']?[ \t]*:/m.test(file.text)
  if (/\.(?:md|markdown|sh|bash|ps1|bat|cmd)$/i.test(path) || file.text.startsWith('#!')) return false
  const model = parseYaml(file, new Reporter())?.[0]?.tree
  return isMap(model) && model.entries.has('services')
}

/**
 * Writes the files after checking that all of them may be written. Returns the paths of the copies of replaced files.
 */
async function write(
  files: readonly MigratedFile[],
  { cwd }: Workspace,
  { replace }: MigrateInput,
): Promise<readonly string[]> {
  const taken = files.find(({ before, isEdit }) => before !== undefined && !isEdit)
  if (taken && !replace)
    throw new UserError(`\`${taken.path}\` already exists`, {
      hint: 'to replace it, add `--replace`; a copy is kept. `--to PATH` writes another file',
    })
  for (const { path } of files) refuseOutside(path, cwd)
  const copies: string[] = []
  for (const { path, before, isEdit } of files) {
    if (before === undefined || isEdit) continue
    const copy = freeName(resolve(cwd, `${path}.bak`))
    await changeFile(copy, { shown: copy, isPrivate: false, edit: () => before })
    copies.push(relative(cwd, copy))
  }
  for (const { path, text, before } of files)
    await changeFile(resolve(cwd, path), {
      shown: path,
      isPrivate: false,
      isCommitted: true,
      edit: now => {
        if (now !== before)
          throw new UserError(`\`${path}\` was changed meanwhile`, { hint: 'run `devctl migrate` again' })
        return text
      },
    })
  return copies
}

/**
 * Throws a UserError if links lead from a path to a target outside the checkout. For a path that is itself outside the
 * checkout, its folder is the limit instead.
 */
function refuseOutside(path: string, cwd: string): void {
  const named = resolve(cwd, path)
  const checkout = checkoutOf(cwd)
  const folder = leadsOut(relative(checkout, named)) ? dirname(named) : checkout
  const folders = [realPath(folder) ?? folder]
  const outside = outsideOf(named, { folders, named: new Set(), others: 'refused' })
  if (outside)
    throw new UserError(`\`${path}\` is a link to \`${outside.path}\`, which is outside the project`, {
      hint: `to change that file, name it: \`${outside.path}\``,
    })
}

function freeName(path: string): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? path : `${path}${number}`
    if (!existsSync(name)) return name
  }
}

const nothingToMigrate = ({ files = [], command }: MigrateInput): Error =>
  command
    ? new UsageError('the command after `--` is not `docker run`', { hint: 'write `devctl migrate -- docker run …`' })
    : new UserError(
        files.length > 0
          ? `${files.map(name => `\`${name}\``).join(', ')} has nothing to migrate`
          : 'this folder has nothing to migrate',
        {
          hint: 'it reads Okteto manifests, Compose files with labels of kompose or Traefik, and `docker run` commands: `devctl migrate FILE`, or `devctl migrate -- docker run …`',
        },
      )
