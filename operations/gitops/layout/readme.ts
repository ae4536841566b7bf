import { withoutCredentials } from '../../../adapters/git/repository-url.ts'

/** What the README of a folder tells. All of it follows from the source and its options: no time, no version, no commit. */
export interface About {
  readonly application: string
  /** The key of `environments` in `devctl.yml`, if one was named. */
  readonly environment?: string
  /** The options by which devctl makes the same files: `['--environment', 'staging']`. */
  readonly options: readonly string[]
  /** Those that say where it goes to, where no manifest does: `['--path', 'shop']`. */
  readonly target?: readonly string[]
  /** What `render` has to be told besides, to make these files: `['--layout', 'plain']`. */
  readonly renderOptions?: readonly string[]
  /** Address of the repository of the source. */
  readonly sourceRepository?: string
  /** The files of the source, as the manifests name them. */
  readonly sources: readonly string[]
  /** What the cluster must hold, since no repository does. */
  readonly requiredSecrets?: readonly SecretToMake[]
}

/** A key of a Secret, and the service that reads it. */
export interface SecretToMake {
  readonly secret: string
  readonly key: string
  readonly usedBy: string
}

export type LayoutName = 'plain' | 'single-file' | 'kustomize'

const CONTENT: Readonly<Record<LayoutName, string>> = {
  plain: 'There is a file for each object, in the folder of its service; `_shared` has what services share.',
  'single-file': '`manifests.yaml` has all objects.',
  kustomize:
    'It is an overlay: `kustomization.yaml` names the base, and what is different here. Patches are in `_patches`, objects that the base lacks in the folders of their services.',
}

/** The text of the README.md beside the manifests. */
export function readme(about: About, layout: LayoutName): string {
  const { application, environment, options, target = [], sourceRepository, sources, requiredSecrets = [] } = about
  const where = environment === undefined ? '' : ` for the environment ${code(environment)}`
  const files = sources.length === 0 ? '' : `${sources.map(code).join(', ')}`
  const repository = sourceRepository === undefined ? '' : code(withoutCredentials(sourceRepository))
  const origin = [files, repository].filter(text => text !== '').join(' in ')
  const line = (command: string, ...more: readonly string[]) =>
    block(['devctl', command, ...[...options, ...more].map(quoted)].join(' '))
  const paragraphs = [
    `# ${title(environment === undefined ? application : `${application} (${environment})`)}`,
    `The Kubernetes manifests of ${code(application)}${where}. devctl has made them${origin && ` from ${origin}`}. ${CONTENT[layout]} \`kubectl apply -k .\`, Argo CD and Flux take the folder as it is.`,
    '## How to change them',
    'Not here: devctl stops when a file of its own was edited, and never touches files that others put beside its own (`.devctl.lock` lists which are its own). Change the source, and publish it again:',
    line('publish', ...target),
    `${layout === 'kustomize' ? 'What `kubectl kustomize .` builds, as files' : 'The same files'} without a commit, to look at:`,
    line('render', ...(about.renderOptions ?? []), '--output-dir', 'manifests'),
    ...(requiredSecrets.length > 0 ? secrets(requiredSecrets) : []),
  ]
  return `${paragraphs.join('\n\n')}\n`
}

function secrets(required: readonly SecretToMake[]): readonly string[] {
  const users = new Map<string, Set<string>>()
  for (const { secret, key, usedBy } of required) {
    const row = `${cell(code(secret))} | ${cell(code(key))}`
    users.set(row, new Set([...(users.get(row) ?? []), usedBy]))
  }
  const rows = [...users]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([row, by]) => {
      return `| ${row} | ${[...by]
        .sort()
        .map(one => cell(code(one)))
        .join(', ')} |`
    })
  return [
    '## Secrets',
    'The repository holds no secrets. These must be in the namespace before the Pods that use them can start:',
    ['| Secret | key | used by |', '|---|---|---|', ...rows].join('\n'),
  ]
}

const oneLine = (text: string) => text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, '?')

const block = (text: string) => `    ${oneLine(text).trimEnd()}`

const cell = (text: string) => text.replaceAll('|', '\\|')

const title = (text: string) => oneLine(text).replaceAll(/[\\`*_<>[\]#]/g, '\\$&')

/** Inline code; longer fences where the text has some of their own. */
function code(text: string): string {
  const line = oneLine(text)
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return longest === 0 ? `\`${line}\`` : `${fence} ${line} ${fence}`
}

/** A word as shells take it. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
