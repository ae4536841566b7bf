import { failureSummary } from '../../compiler/diagnostics/render/summary.ts'
import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { jsonText } from '../../compiler/values/printable.ts'
import type { Analysis, FoundApplication } from '../../init/analyze.ts'
import type { Language } from '../../init/application.ts'
import { joined } from '../../init/compose-services.ts'
import { type InitProjectOutcome, type InitQuestions, initProject, type Written } from '../../init/init.ts'
import { LANGUAGE_NAMES } from '../../init/languages/languages.ts'
import type { Context } from '../command.ts'
import type { InitValues } from '../commands/init.ts'
import { editDiff } from '../terminal/edit-diff.ts'
import { type Choose, type Io, wantsColour } from '../terminal/io.ts'
import { printDiagnostics } from '../terminal/report.ts'

/**
 * Writes a manifest, or prints the files and settings that were found. Returns the exit status: 130 if the user
 * cancels.
 */
export async function initManifest(context: Context, options: InitValues): Promise<number> {
  const { io, logLevel } = context
  const { file = 'devctl.yml', namespace, yes, analyze, output } = options
  if (output === 'json' && !analyze) throw new UsageError('`--output json` is for `--analyze`')
  const { choose } = io
  if (!choose && !yes && !analyze)
    throw new UsageError('`devctl init` asks questions, and there is no terminal', {
      hint: 'to take the first guess of everything, add `--yes`',
    })
  const input = {
    file,
    replace: truth(options.replace),
    namespace,
    context: options.context,
    isPlain: options.v1,
    analyzeOnly: analyze,
  }
  const outcome = await initProject({ workspace: io }, input, yes || !choose ? undefined : questions(io, choose))
  if (outcome.kind === 'written' && (yes || !choose)) await showChange(io, outcome)
  if (outcome.kind !== 'cancelled') printDiagnostics(outcome.diagnostics, io, logLevel)
  return print(io, outcome, output)
}

/** Returns the value of `--replace`, `--replace true` or `--replace false` as a boolean. */
function truth(replace: string | true | undefined): boolean {
  if (replace === undefined || replace === 'false') return false
  if (replace === true || replace === 'true') return true
  throw new UsageError(`\`--replace\` is \`${replace}\``, { hint: 'use `true` or `false`' })
}

function questions(io: Io, choose: Choose): InitQuestions {
  return {
    whichLanguage: async found => {
      const answers = LANGUAGE_NAMES.map(value => ({ value, label: LANGUAGES[value], isPreset: value === found }))
      return (await choose('Which language?', answers)) as Language | undefined
    },
    whichApplications: async found => {
      const all = { value: '', label: `all ${found.length}` }
      const each = found.map(one => ({ value: one.folder, label: `${one.name}: ${titleOf(one)}` }))
      const answer = await choose('Which applications get a development container?', [all, ...each])
      return answer === undefined ? undefined : found.filter(({ folder }) => answer === '' || folder === answer)
    },
    whichCommand: ({ name, application }) =>
      choose(
        `Which command runs ${name} during development?`,
        (application?.commands ?? []).map(({ value, from }) => ({ value, label: from ? `${value} (${from})` : value })),
      ),
    whatToWrite: async written => {
      await showChange(io, written)
      const { path, ignoreFiles } = written
      const ignores = [...ignoreFiles.keys()].join(', ')
      const answers = [
        ...(ignores === '' ? [] : [{ value: 'all', label: `yes, with ${ignores}` }]),
        { value: 'manifest', label: ignores === '' ? 'yes' : `yes, without ${ignores}` },
        { value: 'nothing', label: 'no' },
      ]
      return (await choose(`Write ${path}?`, answers)) as 'all' | 'manifest' | 'nothing' | undefined
    },
  }
}

const LANGUAGES: Readonly<Record<Language, string>> = {
  node: 'JavaScript or TypeScript',
  go: 'Go',
  python: 'Python',
  java: 'Java or Kotlin',
  ruby: 'Ruby',
  php: 'PHP',
  dotnet: '.NET',
  rust: 'Rust',
}

/**
 * Shows how the manifest differs from the existing one before it is replaced. Shows a new manifest in full, if a user
 * is at the terminal.
 */
async function showChange(io: Io, { path, text, before }: Written): Promise<void> {
  if (before === undefined) {
    if (io.choose) io.stderr.write(`\n${text}\n`)
    return
  }
  if (before !== text)
    io.stderr.write(
      await editDiff('.', [{ path, there: before, wanted: text, isOurs: true }], wantsColour(io.stderr, io.env)),
    )
}

function print(io: Io, outcome: InitProjectOutcome, output: 'text' | 'json'): number {
  switch (outcome.kind) {
    case 'cancelled':
      io.stderr.write('nothing was written\n')
      return 130
    case 'analyzed':
      io.stdout.write(output === 'json' ? `${jsonText(outcome.analysis, 2)}\n` : analysisText(outcome.analysis))
      return outcome.analysis.compose?.hasErrors ? 1 : 0
    case 'refused':
      io.stderr.write(`${failureSummary(outcome.diagnostics, 'nothing was written')}\n`)
      return 1
    case 'not-needed':
      io.stdout.write(
        `${joined(outcome.composeFiles)} ${isOrAre(outcome.composeFiles)} enough: no manifest is needed, and no service has a host folder to develop in\nnext: devctl deploy\n`,
      )
      return 0
    default:
      io.stdout.write(`${writtenLines(outcome).join('\n')}\n`)
      return 0
  }
}

function writtenLines(outcome: Extract<InitProjectOutcome, { readonly kind: 'written' }>): readonly string[] {
  const { analysis, path, ignoreFiles, copy, next } = outcome
  const { compose } = analysis
  return [
    ...analysisLines(analysis),
    ...(compose && !compose.isNamedByShell
      ? [
          `${joined(compose.files)} ${compose.files.length > 1 ? 'need' : 'needs'} no manifest to be deployed or developed; ${path} is for changes to \`dev\``,
        ]
      : []),
    outcome.before === outcome.text ? `unchanged: ${path}` : `written: ${path}`,
    ...[...ignoreFiles.keys()].map(name => `written: ${name}`),
    ...(copy === undefined ? [] : [`kept: ${copy}`]),
    `next: ${next}`,
  ]
}

const isOrAre = (names: readonly string[]): string => (names.length > 1 ? 'are' : 'is')

const analysisText = (analysis: Analysis): string => {
  const lines = analysisLines(analysis)
  return `${(lines.length > 0 ? lines : ['found: nothing that devctl knows']).join('\n')}\n`
}

function analysisLines({ compose, applications, deployed }: Analysis): readonly string[] {
  const services = compose?.services.map(({ name }) => name) ?? []
  return [
    ...(compose
      ? [
          `found: ${joined(compose.files)}${services.length > 0 ? `, with host folders for ${services.join(', ')}` : ''}`,
        ]
      : []),
    ...applications.map(found => `found: ${titleOf(found)}${found.folder === '.' ? '' : ` in ${found.folder}`}`),
    ...(deployed ? [`found: ${deployed.by === 'chart' ? 'a chart' : 'manifests'} in ${deployed.path}`] : []),
  ]
}

const titleOf = ({ application, dockerfile }: FoundApplication): string =>
  [application && `${application.title} (${application.marker})`, dockerfile?.path].filter(Boolean).join(', ')
