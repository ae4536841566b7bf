import { existsSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { changeFile, readText } from '../adapters/files/locked-file.ts'
import type { Diagnostic } from '../compiler/diagnostics/diagnostic.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import type { CompilerHost } from '../compiler/host.ts'
import { readManifest } from '../compiler/manifest/read.ts'
import { createHost } from '../project/node-host.ts'
import type { LocalContext } from '../project/session.ts'
import type { Workspace } from '../project/workspace.ts'
import { type Analysis, type AnalyzedProject, analyze, type FoundApplication } from './analyze.ts'
import type { Language } from './application.ts'
import { openProjectFiles } from './project-files.ts'
import { type Proposal, type ProposalChoices, propose } from './propose.ts'

export interface InitProjectInput {
  /** Path of the manifest to write, relative to the workspace's folder. */
  readonly file: string
  /** True if an existing manifest may be replaced; a backup copy is kept. */
  readonly replace: boolean
  readonly namespace?: string | undefined
  readonly context?: string | undefined
  /** True to ask only for the language, without analyzing anything else. */
  readonly isPlain: boolean
  readonly analyzeOnly: boolean
}

/** Questions of `init`. Each question returns undefined if the user quits. */
export interface InitQuestions {
  readonly whichLanguage: (found: Language | undefined) => Promise<Language | undefined>
  readonly whichApplications: (found: readonly FoundApplication[]) => Promise<readonly FoundApplication[] | undefined>
  readonly whichCommand: (found: FoundApplication) => Promise<string | undefined>
  /** Asks what to write, after showing the new manifest and the manifest that it replaces. */
  readonly whatToWrite: (written: Written) => Promise<'all' | 'manifest' | 'nothing' | undefined>
}

export interface Written {
  /** Path of the manifest for messages. */
  readonly path: string
  readonly text: string
  /** Current content of the file. */
  readonly before?: string
  /** Content of the ignore files that do not exist yet, by path. */
  readonly ignoreFiles: ReadonlyMap<string, string>
}

export type InitProjectOutcome =
  | { readonly kind: 'analyzed'; readonly analysis: Analysis; readonly diagnostics: readonly Diagnostic[] }
  /** The Compose files have errors. */
  | { readonly kind: 'refused'; readonly diagnostics: readonly Diagnostic[] }
  /** The user quit, or wants nothing to be written. */
  | { readonly kind: 'cancelled' }
  /**
   * The project has Compose files that need no manifest; `composeFiles` are their paths, relative to the project's
   * folder.
   */
  | {
      readonly kind: 'not-needed'
      readonly composeFiles: readonly string[]
      readonly diagnostics: readonly Diagnostic[]
    }
  | (Written & {
      readonly kind: 'written'
      /** Warnings about the choice of Compose files. */
      readonly diagnostics: readonly Diagnostic[]
      readonly analysis: Analysis
      /** Name of the backup copy of the manifest that was replaced. */
      readonly copy?: string
      readonly next: string
    })

/**
 * Analyzes a project and writes its manifest, after checking that the manifest reader accepts it. Without `ask`, uses
 * the first guess for everything. Throws a UserError if the manifest exists and may not be replaced, or nothing was
 * recognized.
 */
export async function initProject(
  { workspace }: Pick<LocalContext, 'workspace'>,
  input: InitProjectInput,
  ask?: InitQuestions,
): Promise<InitProjectOutcome> {
  const path = resolve(workspace.cwd, input.file)
  const folder = projectFolderOf(path)
  const before = readText(path)
  if (before !== undefined && !input.replace && !input.analyzeOnly) throw exists(input.file)
  const host = createHost({ env: workspace.env })
  const found = await analyzed(workspace, { folder, manifest: path, files: openProjectFiles(folder), host }, input, ask)
  if (!found) return { kind: 'cancelled' }
  const { analysis } = found
  const diagnostics = found.diagnostics.filter(isAboutFiles)
  if (input.analyzeOnly) return { kind: 'analyzed', analysis, diagnostics }
  const { compose, applications } = analysis
  if (compose?.hasErrors) return { kind: 'refused', diagnostics }
  if (compose?.files.includes('-')) throw isStandardInput()
  if (compose && compose.services.length === 0 && !compose.isNamedByShell)
    return { kind: 'not-needed', composeFiles: compose.files, diagnostics }
  if (!compose && applications.length === 0 && !analysis.deployed) throw nothingRecognised()
  const choices = await choose(analysis, input, ask)
  if (!choices) return { kind: 'cancelled' }
  const proposal = propose(choices.analysis, choices)
  checkManifest(proposal.text, path, folder, host)
  const written = {
    path: relative(workspace.cwd, path) || basename(path),
    text: proposal.text,
    ...(before !== undefined && { before }),
    ignoreFiles: new Map([...proposal.ignoreFiles].filter(([one]) => !existsSync(join(folder, one)))),
  }
  const answer = ask ? await ask.whatToWrite(written) : 'all'
  if (answer === undefined || answer === 'nothing') return { kind: 'cancelled' }
  const ignoreFiles = answer === 'all' ? written.ignoreFiles : new Map<string, string>()
  const copy = await write(path, written, folder, ignoreFiles)
  const made = { ...written, ignoreFiles, ...(copy && { copy }) }
  return { kind: 'written', analysis, diagnostics, ...made, next: nextCommand(proposal) }
}

/** Returns the project's folder: the parent of `.devctl` if the manifest is in `.devctl`. */
function projectFolderOf(path: string): string {
  const folder = dirname(path)
  return basename(folder) === '.devctl' ? dirname(folder) : folder
}

/** Returns true for errors, and for the warning that some of the files with a default name are ignored. */
const isAboutFiles = ({ severity, code }: Diagnostic): boolean =>
  severity === 'error' || code === 'files/several-compose-files'

async function analyzed(
  workspace: Workspace,
  project: AnalyzedProject,
  { isPlain }: InitProjectInput,
  ask: InitQuestions | undefined,
): Promise<Awaited<ReturnType<typeof analyze>> | undefined> {
  const all = await analyze(workspace, project)
  if (!isPlain) return all
  const found = all.analysis.applications.find(({ application }) => application)?.application?.language
  const language = ask ? await ask.whichLanguage(found) : found
  if (language === undefined && ask) return undefined
  if (language === undefined) throw nothingRecognised()
  const plain = await analyze(workspace, { ...project, only: language })
  if (plain.analysis.applications.length === 0) throw noMarker(language)
  return plain
}

async function choose(
  analysis: Analysis,
  { isPlain, namespace, context }: InitProjectInput,
  ask: InitQuestions | undefined,
): Promise<(ProposalChoices & { readonly analysis: Analysis }) | undefined> {
  const given = { namespace, context }
  if (!ask || isPlain || analysis.compose) return { ...given, analysis }
  const applications =
    analysis.applications.length > 1 ? await ask.whichApplications(analysis.applications) : analysis.applications
  if (!applications) return undefined
  const commands = new Map<string, string>()
  for (const found of applications) {
    if ((found.application?.commands.length ?? 0) < 2) continue
    const command = await ask.whichCommand(found)
    if (command === undefined) return undefined
    commands.set(found.name, command)
  }
  return { ...given, commands, analysis: { ...analysis, applications } }
}

/**
 * Parses the text as a manifest at its path. Throws on an error, which is a bug in the proposal, before anything is
 * written.
 */
function checkManifest(text: string, path: string, folder: string, host: CompilerHost): void {
  const bytes = new TextEncoder().encode(text)
  const withIt: CompilerHost = {
    ...host,
    readFile: one => (one === path ? { kind: 'file', bytes } : host.readFile(one)),
    stat: one => (one === path ? { kind: 'file', size: bytes.length } : host.stat(one)),
    readDirectory: one => host.readDirectory(one),
  }
  const { diagnostics } = readManifest({ path, workingDirectory: folder }, withIt)
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  if (errors.length > 0)
    throw new Error(`init proposed a manifest with errors: ${errors.map(one => one.message).join('; ')}`)
}

/** Writes the manifest and the ignore files; returns the name of the backup copy of an existing manifest. */
async function write(
  path: string,
  { text, before, path: shown }: Written,
  folder: string,
  ignoreFiles: ReadonlyMap<string, string>,
): Promise<string | undefined> {
  const copy = before === undefined || before === text ? undefined : freeName(`${path}.bak`)
  if (copy !== undefined) await changeFile(copy, { shown: copy, isPrivate: false, edit: () => before })
  await changeFile(path, {
    shown,
    isPrivate: false,
    isCommitted: true,
    edit: now => {
      if (now !== before) throw new UserError(`\`${shown}\` was changed meanwhile`, { hint: 'run `devctl init` again' })
      return text
    },
  })
  for (const [name, content] of ignoreFiles)
    await changeFile(join(folder, name), {
      shown: name,
      isPrivate: false,
      isCommitted: true,
      edit: now => (now === undefined ? content : undefined),
    })
  return copy && join(dirname(shown), basename(copy))
}

function freeName(path: string): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? path : `${path}${number}`
    if (!existsSync(name)) return name
  }
}

/** Returns the command to run next. `up` deploys missing services itself, so it needs no `deploy` first. */
const nextCommand = ({ containers: [first] }: Proposal): string =>
  first === undefined ? 'devctl deploy' : `devctl up ${first}`

const exists = (file: string) =>
  new UserError(`\`${file}\` already exists`, { hint: 'to replace it, add `--replace`; a copy is kept' })

const nothingRecognised = () =>
  new UserError('no application was recognised in this folder', {
    hint: 'run it where `package.json`, `go.mod`, `pyproject.toml`, `requirements.txt`, `pom.xml`, `build.gradle`, `Gemfile`, `composer.json`, `*.csproj`, `Cargo.toml` or a Dockerfile is, or write `devctl.yml` by hand: docs/manifest.md',
  })

const isStandardInput = () =>
  new UserError('`COMPOSE_FILE` names standard input, which a manifest cannot name', {
    hint: 'write the Compose file into a file, and name that in `COMPOSE_FILE`',
  })

const noMarker = (language: Language) =>
  new UserError(`this folder has no project for \`${language}\``, {
    hint: 'choose another language, or run it without `-v1`',
  })
