import { servicesAsJobs } from '../../compiler/compose/load/jobs.ts'
import type { Loaded } from '../../compiler/compose/load/loaded.ts'
import { count, failureSummary } from '../../compiler/diagnostics/render/summary.ts'
import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { get, isScalar, isSeq, type Tree } from '../../compiler/text/tree.ts'
import { jsonText, printable } from '../../compiler/values/printable.ts'
import { compileFiles } from '../../project/compile-files.ts'
import { nothingToRender } from '../../project/nothing-to-render.ts'
import type { Context } from '../command.ts'
import type { ConfigValues } from '../commands/config.ts'
import { writeAsIs } from '../terminal/redacting.ts'
import { printDiagnostics } from '../terminal/report.ts'

/** Views that `config` can print instead of the full model, one at a time. */
const VIEWS = ['provenance', 'services', 'images', 'volumes', 'networks', 'profiles', 'hash'] as const

/** Loads the files and prints the model, or one view of it. */
export async function printModel(
  { io, logLevel }: Context,
  services: readonly string[],
  options: ConfigValues,
): Promise<number> {
  const [view, second] = VIEWS.filter(name => options[name])
  if (second) throw new UsageError(`\`--${view}\` and \`--${second}\` cannot be used together`)

  // Lists the profiles of all services, including services that no active profile enables.
  const loading = view === 'profiles' ? { ...options, profile: ['*'] } : options
  const { loaded, environmentName, diagnostics, hasNoCompose, manifest } = await compileFiles(
    io,
    services,
    loading,
    {},
    { until: 'loaded' },
  )
  if (hasNoCompose && manifest) throw nothingToRender(manifest)
  const failed = !loaded || count(diagnostics).error > 0
  if (!failed) writeAsIs(io.stdout, await textOf(loaded, view, options, environmentName))
  printDiagnostics(diagnostics, io, logLevel)
  if (failed) io.stderr.write(`${failureSummary(diagnostics)}\n`)
  return failed ? 1 : 0
}

async function textOf(
  loaded: Loaded,
  view: (typeof VIEWS)[number] | undefined,
  options: ConfigValues,
  environmentName: string | undefined,
): Promise<string> {
  // Jobs have images and profiles, too.
  const services = keysOf(get(loaded.tree, 'services'))
  switch (view) {
    case 'services':
      return lines(keysOf(get(servicesAsJobs(loaded.tree), 'services')))
    case 'images':
      return lines(services.map(service => imageOf(loaded, service)))
    case 'volumes':
    case 'networks':
      return lines(keysOf(get(loaded.tree, view)))
    case 'profiles':
      return lines(
        [...new Set(services.flatMap(service => textsOf(get(loaded.tree, 'services', service, 'profiles'))))].sort(),
      )
    case 'provenance': {
      const [{ provenanceOf }, { printProvenance }] = await Promise.all([
        import('../../operations/config/provenance.ts'),
        import('../terminal/print-provenance.ts'),
      ])
      const found = provenanceOf(servicesAsJobs(loaded.tree))
      return options.output === 'json' ? `${jsonText(found, 2)}\n` : printProvenance(found)
    }
  }
  const { printConfig } = await import('../../compiler/compose/config.ts')
  const model = printConfig(loaded, { allResources: options.allResources, environmentName })
  if (view === 'hash') {
    const { serviceHashes } = await import('../../operations/config/service-hash.ts')
    return serviceHashes(model, options.hash === true ? '*' : options.hash!)
  }
  if (options.output === 'json') return `${jsonText(model, 2)}\n`
  const { printYaml } = await import('../../constructs/yaml.ts')
  return printYaml(model)
}

/** Returns the image of a service; without `image`, the name that Compose gives the image it builds. */
function imageOf(loaded: Loaded, service: string): string {
  const image = get(loaded.tree, 'services', service, 'image')
  return isScalar(image) ? String(image.value) : `${loaded.name}-${service}`
}

function keysOf(tree: Tree | undefined): readonly string[] {
  return tree?.kind === 'map' ? [...tree.entries.keys()] : []
}

function textsOf(tree: Tree | undefined): readonly string[] {
  return isSeq(tree) ? tree.items.filter(isScalar).map(({ value }) => String(value)) : []
}

/** Returns the words, one per line, with unsafe characters escaped. YAML output uses the escapes of YAML instead. */
const lines = (words: readonly string[]) => words.map(word => `${printable(word)}\n`).join('')
