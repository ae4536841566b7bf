import { extname, join } from 'node:path/posix'
import { diagnostic } from '../diagnostics/diagnostic.ts'
import { Reporter } from '../diagnostics/reporter.ts'
import type { CompilerHost } from '../host.ts'
import { parseYaml } from '../text/parse.ts'
import { SourceFile } from '../text/source.ts'
import { get, isMap } from '../text/tree.ts'
import { toVariableName } from '../values/variable-name.ts'
import type { DevctlManifest } from './manifest.ts'
import type { ReadManifest } from './read.ts'

/** Paths to search for a Helm chart (`CHARTS`), and for plain Kubernetes manifests (`MANIFESTS`). */
const CHARTS = ['chart', 'charts', 'helm/chart', 'helm/charts']
const MANIFESTS = ['manifests', 'kubernetes', 'k8s'].flatMap(name => [name, `${name}.yml`, `${name}.yaml`])
const KUSTOMIZATIONS = ['kustomization.yaml', 'kustomization.yml', 'Kustomization']

const several = diagnostic({
  code: 'manifest/several-candidates',
  severity: 'warning',
  explain: `The folder has several manifests or, without a manifest and a Compose file, several Helm charts or folders with Kubernetes manifests. devctl uses the first one, in the order \`devctl.yml\`, \`devctl.yaml\`, \`.devctl/devctl.yml\`, \`.devctl/devctl.yaml\`; \`okteto.yml\`, \`okteto.yaml\`, those in \`.okteto\`; \`chart\`, \`charts\`, \`helm/chart\`, \`helm/charts\`; \`manifests\`, \`kubernetes\`, \`k8s\`. Remove the others, name the manifest with \`-f\`, or write a manifest.`,
  text: (p: { used: string; ignored: readonly string[] }) => ({
    message: `\`${p.used}\` is used; ${p.ignored.map(name => `\`${name}\``).join(', ')} ${p.ignored.length === 1 ? 'is' : 'are'} ignored`,
  }),
})

/**
 * Warns that the first of several candidates of one kind is used. Returns no diagnostics if there is only one
 * candidate.
 */
export function severalCandidates([used, ...ignored]: readonly string[]): ReadManifest['diagnostics'] {
  const reporter = new Reporter()
  if (used !== undefined && ignored.length > 0) reporter.report(several, undefined, { used, ignored })
  return reporter.diagnostics()
}

/**
 * Applies the automatic deployment rules to a folder without a manifest and a Compose file: deploys its Helm chart with
 * `helm`, or its plain Kubernetes manifests with `kubectl`. Returns undefined if the folder has neither. `folder` is
 * absolute.
 */
export function automaticManifest(
  folder: string,
  host: CompilerHost,
): Required<Omit<ReadManifest, 'secrets'>> | undefined {
  const charts = CHARTS.filter(path => host.stat(join(folder, path, 'Chart.yaml'))?.kind === 'file')
  const plain = MANIFESTS.filter(path => isPlain(host.stat(join(folder, path))?.kind, path))
  const found = charts.length > 0 ? charts : plain
  const [first] = found
  if (first === undefined) return undefined
  const command = charts.length > 0 ? helmCommand(folder, first, host) : kubectlCommand(folder, first, host)
  const path = join(folder, first)
  const span = { file: new SourceFile(first, command, path), start: 0, end: command.length }
  const manifest: DevctlManifest = {
    path,
    shown: first,
    folder,
    automatic: charts.length > 0 ? 'chart' : 'manifests',
    build: new Map(),
    deploy: { span, commands: [{ name: command.split(' ${')[0]!, command, span }] },
    variables: new Set(),
    dev: new Map(),
    dependencies: [],
    forward: [],
    environments: new Map(),
  }
  return { manifest, diagnostics: severalCandidates(found) }
}

const isPlain = (kind: string | undefined, path: string) => kind === (extname(path) === '' ? 'folder' : 'file')

/**
 * Returns the command that installs a chart. The release has the name of the environment. Each image that a build has
 * produced is passed to the chart.
 */
function helmCommand(folder: string, chart: string, host: CompilerHost): string {
  const images = imagesOfChart(join(folder, chart, 'values.yaml'), host).map(key => {
    const variable = `DEVCTL_BUILD_${toVariableName(key)}_IMAGE`
    return ` \${${variable}:+--set ${key}.image="$${variable}"}`
  })
  return `helm upgrade --install "$DEVCTL_NAME" ${chart}${images.join('')}`
}

/**
 * Returns the top-level keys of a chart's values that have an `image`. Omits keys that a shell or Helm would interpret.
 */
function imagesOfChart(path: string, host: CompilerHost): readonly string[] {
  const content = host.readFile(path)
  if (content.kind !== 'file') return []
  // Errors in the values are ignored here, because Helm reports them.
  const file = new SourceFile(path, new TextDecoder().decode(content.bytes))
  const tree = parseYaml(file, new Reporter())?.[0]?.tree
  if (!isMap(tree)) return []
  return [...tree.entries].filter(([key, { value }]) => /^[\w-]+$/.test(key) && get(value, 'image')).map(([key]) => key)
}

/**
 * Returns the command that applies the manifests at a path. Uses kustomize if the path contains a kustomization file,
 * because that file is not a Kubernetes object.
 */
function kubectlCommand(folder: string, path: string, host: CompilerHost): string {
  const isKustomized = KUSTOMIZATIONS.some(name => host.stat(join(folder, path, name))?.kind === 'file')
  return `kubectl apply ${isKustomized ? '-k' : '-f'} ${path}`
}
