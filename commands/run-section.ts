import type { BuiltImage } from '../builds/built-image.ts'
import type { Diagnostic } from '../compiler/diagnostics/diagnostic.ts'
import type { DevctlManifest } from '../compiler/manifest/manifest.ts'
import { kindKeeper } from '../environment/record/record.ts'
import type { CommonEvent } from '../project/events.ts'
import type { OperationContext } from '../project/session.ts'
import type { ManifestCommand } from './run-commands.ts'

/** Commands of the `deploy` or `destroy` section, and their inputs. */
export interface Section {
  readonly commands: readonly ManifestCommand[]
  /** Absolute path of the manifest's folder. */
  readonly folder: string
  readonly environment: string
  /** Set if the commands come from an Okteto manifest, so they also get the variables under Okteto's names. */
  readonly dialect?: DevctlManifest['dialect']
  /** Images that were built, by service. */
  readonly built: ReadonlyMap<string, BuiltImage>
  readonly noBash: boolean
  /** Names of the platform variables that the commands receive, because their manifest names them. */
  readonly named: ReadonlySet<string>
  /**
   * Names of variables, other than those of the platform, that the commands do not receive because their manifest does
   * not name them.
   */
  readonly unnamed?: readonly string[]
  /** Variables set with `--var`, and those kept by an earlier deploy. */
  readonly variables: Readonly<Record<string, string>>
  readonly domain: string | undefined
  readonly registry: string | undefined
  /** True if `variables` come from a manifest and not from a command line. */
  readonly areVariablesPublic?: boolean
  /** Variables that dependencies passed on, by dependency. */
  readonly dependencies: ReadonlyMap<string, Readonly<Record<string, string>>>
}

export interface SectionResult {
  readonly hasFailed: boolean
  /** Variables that commands passed on through the file of `DEVCTL_ENV`. */
  readonly variables: Readonly<Record<string, string>>
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * Runs the commands of a section with their variables, and labels the objects that they create as objects of the
 * environment. Rejects with the signal's abort reason, and with a UserError if the shell does not exist.
 */
export async function runSection(
  { workspace, session, on }: OperationContext,
  section: Section,
  signal: AbortSignal,
): Promise<SectionResult> {
  const [{ runCommands }, { commandVariables }, { withOktetoNames }, { readGitFacts }, { startLabellingProxy }] =
    await Promise.all([
      import('./run-commands.ts'),
      import('./command-variables.ts'),
      import('./okteto-names.ts'),
      import('../adapters/git/git-facts.ts'),
      import('../adapters/kubernetes/labelling-proxy/labelling-proxy.ts'),
    ])
  const { cluster, access, namespace, target } = session
  const { environment, folder, noBash, commands, domain, registry, named } = section
  // Other users can set platform variables, and their names can change what programs do.
  const ofPlatform = [...(workspace.platformVariables ?? [])]
  const unnamed = [...ofPlatform.map(([name]) => name), ...(section.unnamed ?? [])].filter(
    name => !named.has(name) && workspace.env[name] === undefined && section.variables[name] === undefined,
  )
  const { env, secrets } = commandVariables({
    // Variables of the shell take precedence over those of the platform.
    env: { ...Object.fromEntries(ofPlatform.filter(([name]) => named.has(name))), ...workspace.env },
    vars: section.variables,
    areVarsPublic: section.areVariablesPublic ?? false,
    name: environment,
    namespace,
    context: target.context,
    domain,
    registry,
    git: await readGitFacts(folder, workspace.env, signal),
    builds: section.built,
    dependencies: new Map(
      [...section.dependencies].map(([name, variables]) => [name, { builds: new Map(), variables }]),
    ),
  })
  workspace.secrets?.add(secrets)
  const remember = kindKeeper(cluster, environment, namespace, { signal })
  const proxy = await startLabellingProxy({ access, environment, namespace, remember })
  let running: string | undefined
  const state = (state: 'waiting' | 'complete' | 'failed', text: string) => {
    if (running !== undefined) on({ type: 'status', service: running, state, text })
  }
  try {
    const { failed, variables, diagnostics } = await runCommands(commands, {
      folder,
      env: { ...(section.dialect === 'okteto' ? withOktetoNames(env) : env), ...proxy.variables },
      ...(section.dialect === 'okteto' && { envNames: ['DEVCTL_ENV', 'OKTETO_ENV'] }),
      noBash,
      known: workspace.secrets,
      secrets: [...secrets, ...proxy.secrets],
      signal,
      begin({ name }) {
        state('complete', 'done')
        running = name
        state('waiting', 'runs')
      },
      output: ({ command, stream, text }) => on({ type: 'output', command: command.name, stream, text }),
    })
    if (failed) state('failed', failed.signal ? `ended by ${failed.signal}` : `exit status ${failed.exitCode}`)
    else state('complete', 'done')
    if (failed && unnamed.length > 0) on(unnamedNote(unnamed))
    return { hasFailed: failed !== undefined, variables, diagnostics }
  } finally {
    await proxy.close()
  }
}

/** Maximum number of names in a note. */
const MOST_NAMES = 10

function unnamedNote(names: readonly string[]): CommonEvent {
  const all = [...new Set(names)].sort()
  const shown = all.slice(0, MOST_NAMES).map(name => `\`${name}\``)
  const more = all.length > MOST_NAMES ? ` and ${all.length - MOST_NAMES} more` : ''
  return {
    type: 'note',
    text: `commands get only the variables of the platform and of earlier deploys that the manifest names; these it does not: ${shown.join(', ')}${more}. If one is needed, add it to \`variables\` of the manifest`,
  }
}
