import { items } from '../compose/read/tree-values.ts'
import { diagnostic } from '../diagnostics/diagnostic.ts'
import type { At } from '../text/source.ts'
import { type Entry, entry, get, isMap, isScalar, type MapTree, type Tree } from '../text/tree.ts'
import type { ComposeFiles, DeploySection, Destroy, SectionCommand } from './manifest.ts'
import { manifestMistakes } from './mistakes.ts'
import { known, type Reading, texts } from './values.ts'

const servicesOfSome = diagnostic({
  code: 'manifest/services-of-some-files',
  severity: 'error',
  explain: `Some of the Compose files in \`deploy.compose\` have \`services\` and some do not. The files are merged into one application, so \`services\` selects among the services of all files, and it is not clear if the services of the other files are deployed.

Write \`services\` for every file, or for none.`,
  text: (_: Record<never, never>) => ({
    message: '`services` is set for only some of the Compose files',
    hint: 'write `services` for every file, or for none',
  }),
})

/** Reads `deploy`: a list of commands, or an object. The structure has already been checked. */
export function readDeploy({ key, value }: Entry, reading: Reading): DeploySection {
  const compose = get(value, 'compose')
  const files = compose && readComposeFiles(compose, reading)
  const endpoints = entry(value, 'endpoints')
  return {
    span: key,
    commands: readCommands(value),
    ...(files && { compose: files }),
    ...(endpoints && { endpoints }),
  }
}

/** Reads `destroy`: a list of commands, or an object with `commands`. */
export function readDestroy({ key, value }: Entry): Destroy {
  return { span: key, commands: readCommands(value) }
}

function readCommands(tree: Tree): readonly SectionCommand[] {
  const all = tree.kind === 'seq' ? tree.items : items(tree, 'commands')
  return all.flatMap((item): SectionCommand[] => {
    const command = isMap(item) ? get(item, 'command') : item
    if (!isScalar(command) || typeof command.value !== 'string' || command.value.trim() === '') return []
    const name = isMap(item) ? known(item, 'name')?.value : undefined
    return [{ name: name ?? oneLine(command.value), command: command.value, span: command.span }]
  })
}

/** Returns the first line of a script, which serves as its name. */
function oneLine(command: string): string {
  const [first = '', ...rest] = command.trim().split('\n')
  return rest.length > 0 ? `${first} …` : first
}

/** Reads `deploy.compose` in all its forms. Returns undefined if it names no valid file. */
function readComposeFiles(tree: Tree, reading: Reading): ComposeFiles | undefined {
  if (isMap(tree)) checkKeys(tree, reading)
  const all = composeEntries(tree)
  const chosen = all.map(one => (isMap(one) ? get(one, 'services') : undefined))
  const without = chosen.findIndex(services => !services)
  if (without >= 0) {
    const first = chosen.find(services => texts(services).length > 0)
    if (first)
      reading.reporter.report(servicesOfSome, first.span, {}, [{ span: all[without]!.span, message: 'missing here' }])
  }
  const files = all.flatMap((one): At<string>[] => {
    const file = isMap(one) ? (known(one, 'file') ?? known(one, 'manifest')) : known(one)
    return file ? [file] : []
  })
  return files.length === 0 ? undefined : { files, services: chosen.flatMap(texts) }
}

/** Returns the entries of `deploy.compose`. Its key `manifest` is the old name of `file`, or has the entries itself. */
function composeEntries(tree: Tree): readonly Tree[] {
  const manifest = get(tree, 'manifest')
  const named = manifest && !isScalar(manifest) ? manifest : tree
  return named.kind === 'seq' ? named.items : [named]
}

/** Reports a mapping without a file, and keys beside `manifest` that would be ignored. */
function checkKeys(tree: MapTree, { reporter }: Reading): void {
  const path = ['deploy', 'compose']
  const { file, manifest, services } = Object.fromEntries(tree.entries)
  const unknown = ({ key: span }: Entry, key: string, hint: string) =>
    reporter.report(manifestMistakes.unknownKey(path), span, { path, key, hint })
  // An unknown key is probably a misspelled `file`, and has already been reported.
  const isOnlyServices = [...tree.entries.keys()].every(key => key === 'services' || key.startsWith('x-'))
  if (isOnlyServices) reporter.report(manifestMistakes.missingKey, tree.span, { path, key: 'file' })
  if (file && manifest) unknown(manifest, 'manifest', '`manifest` is the old name of `file`: keep one of the two')
  else if (services && manifest && !isScalar(manifest.value))
    unknown(services, 'services', 'write it beside each `file` in `manifest`')
}
