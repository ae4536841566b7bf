import { SCHEMA_ADDRESSES } from '../compiler/schema/schema-addresses.ts'
import { toVariableName } from '../compiler/values/variable-name.ts'
import { DEFAULT_PATTERNS } from '../sync/ignore/default-ignores.ts'
import type { Analysis, FoundApplication } from './analyze.ts'
import { type DevelopedService, joined } from './compose-services.ts'
import { comment, flowList, indented, isTrue, list, pair, scalar, type YamlLines } from './yaml-lines.ts'

/** Manifest to write, and the ignore files of its folders. */
export interface Proposal {
  readonly text: string
  /** Names of the containers in the `dev` section of the manifest. */
  readonly containers: readonly string[]
  /** Ignore files by path, relative to the project's folder. */
  readonly ignoreFiles: ReadonlyMap<string, string>
}

export interface ProposalChoices {
  /** Commands that the user chose for applications with several possible commands, by the name of the application. */
  readonly commands?: ReadonlyMap<string, string>
  readonly namespace?: string | undefined
  readonly context?: string | undefined
}

/** Returns the manifest for the analyzed folder: only keys that differ from the defaults, each with the reason. */
export function propose(analysis: Analysis, choices: ProposalChoices): Proposal {
  const { compose, applications } = analysis
  const ports = new LocalPorts()
  const dev = compose
    ? compose.services.map(service => [service.name, ofService(service, compose.files)] as const)
    : applications.map(found => [found.name, ofApplication(found, analysis, choices, ports)] as const)
  const builds = compose ? [] : applications.flatMap(found => buildOf(found, analysis))
  const sections = [
    [...comment(MODELINE), ...comment(HEAD), ...pairs({ namespace: choices.namespace, context: choices.context })],
    section('build', 'The images of the project: `devctl build` builds and pushes them.', builds),
    deploySection(analysis),
    section('dev', 'Development containers: `devctl up NAME` starts one.', dev),
  ]
  const text = sections.filter(lines => lines.length > 0).map(lines => `${lines.join('\n')}\n`)
  return {
    text: text.join('\n'),
    containers: dev.map(([name]) => name),
    ignoreFiles: compose ? new Map() : new Map(applications.flatMap(ignoreFileOf)),
  }
}

/** Tells editors with a YAML language server which schema the file has. It must be the first line. */
const MODELINE = `yaml-language-server: $schema=${SCHEMA_ADDRESSES.manifest}`

const HEAD = 'Proposed by `devctl init` and yours to change; `devctl schema manifest` prints a JSON Schema of all keys.'

const pairs = (values: Readonly<Record<string, string | undefined>>): YamlLines =>
  Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : pair(key, value)))

/** Key of a section with its value: a scalar, or the lines below the key. */
type Section = readonly [name: string, value: string | YamlLines]

function section(key: string, about: string, entries: readonly Section[]): YamlLines {
  if (entries.length === 0) return []
  const each = entries.map(([name, value]) => {
    if (typeof value === 'string') return pair(name, value)
    const isEmpty = value.every(line => line.startsWith('#'))
    return isEmpty ? [...value, `${scalar(name)}: {}`] : [`${scalar(name)}:`, ...indented(value)]
  })
  return [...comment(about), `${key}:`, ...each.flatMap((lines, at) => [...(at > 0 ? [''] : []), ...indented(lines)])]
}

function deploySection({ compose, deployed }: Analysis): YamlLines {
  if (compose?.isNamedByShell) {
    const files = indented(list('compose', compose.files))
    return [
      ...comment('The Compose files that `COMPOSE_FILE` named; `devctl deploy` deploys them.'),
      'deploy:',
      ...files,
    ]
  }
  if (!deployed) return []
  const what = deployed.by === 'chart' ? `the chart in ${deployed.path}` : `the manifests in ${deployed.path}`
  const command = scalar(deployed.command)
  return [...comment(`\`devctl deploy\` runs these commands. Found: ${what}.`), 'deploy:', `  - ${command}`]
}

/**
 * Returns the `build` section of an application. The name of the image is its key in the values of the chart or, if no
 * such key fits, the name of the application. Returns no section without a Dockerfile, and for plain manifests, because
 * they name their images themselves.
 */
function buildOf(found: FoundApplication, { deployed, applications }: Analysis): Section[] {
  const { dockerfile, folder, name } = found
  if (!dockerfile || deployed?.by === 'manifests') return []
  const [key, ...others] = deployed?.images ?? []
  const image = key !== undefined && others.length === 0 && applications.length === 1 ? key : name
  const { path, target } = dockerfile
  const lines = [
    ...(path === 'Dockerfile' ? [] : pair('dockerfile', path)),
    ...(target === undefined || deployed ? [] : pair('target', target, 'the stage for development')),
  ]
  return [
    lines.length === 0 ? [image, folder] : [image, [...(folder === '.' ? [] : pair('context', folder)), ...lines]],
  ]
}

/**
 * Returns true if the development container runs the image built from the application's Dockerfile: the Dockerfile has
 * a stage for development, or only the Dockerfile tells how to run the application. False if the project's chart or
 * manifests deploy the application.
 */
const usesOwnImage = ({ application, dockerfile, isDeployed }: FoundApplication): boolean =>
  dockerfile !== undefined && !isDeployed && (application === undefined || dockerfile.target !== undefined)

function ofApplication(
  found: FoundApplication,
  { deployed }: Analysis,
  { commands }: ProposalChoices,
  ports: LocalPorts,
): YamlLines {
  const { application, dockerfile, folder, name, isDeployed } = found
  const own = usesOwnImage(found)
  const command = commands?.get(name)
  const proposed = application?.commands.find(({ value }) => command === undefined || value === command)
  const run = proposed ?? (command === undefined ? undefined : { value: command })
  const workdir = application?.workdir.value ?? dockerfile?.workdir ?? '/app'
  return [
    ...comment(application && `${application.title} (${application.marker})`),
    ...comment(
      deployed?.by === 'chart'
        ? 'The key of this container is the name of the Deployment in the cluster; correct it if the chart has another one.'
        : undefined,
    ),
    ...(isDeployed ? [] : isTrue('autocreate', `No manifest of this project deploys \`${name}\`: \`up\` creates it.`)),
    ...(own
      ? pair('image', `\${DEVCTL_BUILD_${toVariableName(name)}_IMAGE}`, 'the image of `build`')
      : application
        ? pair(
            'image',
            application.image.value,
            application.image.from && `the version is from ${application.image.from}`,
          )
        : []),
    ...(run && run.value !== 'sh'
      ? pair('command', run.value, run.from && `from ${run.from}`)
      : dockerfile?.command && !application
        ? [
            ...comment(`what ${dockerfile.path} runs; without it, \`up\` opens a shell`),
            `command: ${flowList(dockerfile.command)}`,
          ]
        : []),
    // The image of a language does not contain the project's folder, so the command could not run there.
    ...(own && dockerfile?.workdir !== undefined
      ? []
      : pair('workdir', workdir, application?.workdir.from && `the ${application.workdir.from}`)),
    ...list('sync', [`${folder === '.' ? '.' : folder}:${workdir}`]),
    ...(application && !own && application.caches.length > 0
      ? [
          ...comment('kept between sessions: what package managers have downloaded'),
          ...list('volumes', application.caches),
        ]
      : []),
    ...forwards(found, ports),
  ]
}

function forwards({ application, dockerfile }: FoundApplication, ports: LocalPorts): YamlLines {
  const port = application
    ? application.port
    : dockerfile?.port === undefined
      ? undefined
      : { value: dockerfile.port, from: `\`EXPOSE\` in ${dockerfile.path}` }
  const attach = application?.debugger
  const line = (number: number) => `${ports.take(number)}:${number}`
  const forward = [
    ...(port ? [...comment(port.from && `from ${port.from}`), line(port.value)] : []),
    ...(attach && !attach.connects ? [...comment(`the debugger, ${attach.hint}`), line(attach.port)] : []),
  ]
  const reverse = attach?.connects ? [...comment(`the debugger, ${attach.hint}`), `${attach.port}:${attach.port}`] : []
  return [...list('forward', forward), ...list('reverse', reverse)]
}

/** Assigns ports of the laptop: the first container that wants a port gets it, and others get the next free one. */
class LocalPorts {
  readonly #taken = new Set<number>()

  take(wanted: number): number {
    let port = wanted < 1024 ? wanted + 8000 : wanted
    while (this.#taken.has(port)) port++
    this.#taken.add(port)
    return port
  }
}

/**
 * Returns the lines of a service. Omits `sync`, so that the folders and exclusions of the Compose file, and later
 * changes to them, apply.
 */
function ofService({ folders, ports, command }: DevelopedService, files: readonly string[]): YamlLines {
  return [
    ...comment(`\`sync\` is what ${joined(files)} ${files.length > 1 ? 'say' : 'says'}: ${folders.join(', ')}`),
    ...(command
      ? [
          ...comment(
            `what the service runs${command.from ? ` (${command.from})` : ''}; without it, \`up\` opens a shell`,
          ),
          `command: ${flowList(command.value)}`,
        ]
      : comment('`up` opens a shell; to run a program, add `command`')),
    ...list('forward', ports),
  ]
}

function ignoreFileOf({ application, folder }: FoundApplication): [string, string][] {
  if (!application) return []
  const path = folder === '.' ? '.stignore' : `${folder}/.stignore`
  const lines = [
    '// What `devctl up` does not synchronize. Without this file it has rules of its own.',
    '// The first pattern that matches decides; `!` includes: https://docs.syncthing.net/users/ignoring.html',
    ...(application.ignores.length > 0 ? ['', '// made anew in the container', ...application.ignores] : []),
    '',
    '// version control, temporary files',
    ...DEFAULT_PATTERNS,
  ]
  return [[path, `${lines.join('\n')}\n`]]
}
