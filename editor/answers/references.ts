import { PathRules } from '../../compiler/text/path.ts'
import type { AskedDocument } from './question.ts'

/** Section of a Compose file whose names a value can refer to. */
export type NamedSection = 'services' | 'volumes' | 'networks' | 'secrets' | 'configs' | 'models'

/** Kind of thing that a value of a file refers to. */
export type ReferenceKind = NamedSection | 'service-after-colon' | 'mount' | 'profiles' | 'file'

const file = (...paths: readonly string[]) => paths.map(path => [path, 'file'] as const)

/**
 * References in Compose files: the path of each value or mapping key that refers to something, with the kind of thing.
 * `*` stands for any name or index.
 */
const compose = new PathRules<ReferenceKind>([
  ['services.*.depends_on.*', 'services'],
  ['services.*.extends', 'services'],
  ['services.*.extends.service', 'services'],
  ['services.*.links.*', 'services'],
  ['services.*.volumes_from.*', 'services'],
  ['services.*.network_mode', 'service-after-colon'],
  ['services.*.ipc', 'service-after-colon'],
  ['services.*.pid', 'service-after-colon'],
  ['services.*.networks.*', 'networks'],
  ['services.*.volumes.*', 'mount'],
  ['services.*.volumes.*.source', 'mount'],
  ['services.*.secrets.*', 'secrets'],
  ['services.*.secrets.*.source', 'secrets'],
  ['services.*.build.secrets.*', 'secrets'],
  ['services.*.build.secrets.*.source', 'secrets'],
  ['services.*.configs.*', 'configs'],
  ['services.*.configs.*.source', 'configs'],
  ['services.*.models.*', 'models'],
  ['services.*.profiles.*', 'profiles'],
  ['endpoints.*.service', 'services'],
  ['endpoints.*.*.service', 'services'],
  ['endpoints.*.rules.*.service', 'services'],
  ...file('services.*.env_file', 'services.*.env_file.*', 'services.*.env_file.*.path', 'services.*.extends.file'),
  ...file('services.*.label_file', 'services.*.label_file.*', 'services.*.build', 'services.*.build.context'),
  ...file('services.*.build.dockerfile', 'services.*.develop.watch.*.path', 'configs.*.file', 'secrets.*.file'),
  ...file('include.*', 'include.*.path', 'include.*.path.*', 'include.*.env_file', 'include.*.env_file.*'),
])

const manifest = new PathRules<ReferenceKind>([
  ['dev.*', 'services'],
  ['deploy.compose.services', 'services'],
  ['deploy.compose.services.*', 'services'],
  ['deploy.compose.*.services', 'services'],
  ['deploy.compose.*.services.*', 'services'],
  ['environments.*.images.*', 'services'],
  ['deploy.endpoints.*.service', 'services'],
  ['deploy.endpoints.*.*.service', 'services'],
  ...file('deploy.compose', 'deploy.compose.*', 'deploy.compose.file', 'deploy.compose.*.file'),
  ...file('environments.*.compose', 'environments.*.compose.*'),
  ...file('environments.*.envFiles', 'environments.*.envFiles.*', 'build.*', 'build.*.context'),
])

/** Returns the kind of thing that the value or key at a path refers to; undefined for other values. */
export function referenceAt({ kind }: Pick<AskedDocument, 'kind'>, path: readonly string[]): ReferenceKind | undefined {
  if (kind === 'manifest') return PathRules.at(manifest.find(path))
  // A job has the references of a service.
  return PathRules.at(compose.find(path[0] === 'jobs' ? ['services', ...path.slice(1)] : path))
}

/** Part of a text that is a name: a service in `db:alias`, a volume in `data:/var/lib`. */
export interface NamePart {
  readonly section: NamedSection | 'profiles'
  readonly name: string
  /** Offset of the name in the text. */
  readonly at: number
}

/**
 * Returns the name in the text of a reference; undefined if the text refers to nothing by name, such as a path or
 * `network_mode: host`.
 */
export function nameIn(kind: ReferenceKind, text: string): NamePart | undefined {
  switch (kind) {
    case 'file':
      return undefined
    case 'service-after-colon': {
      const prefix = 'service:'
      return text.startsWith(prefix)
        ? { section: 'services', name: text.slice(prefix.length), at: prefix.length }
        : undefined
    }
    case 'mount': {
      const [name = ''] = text.split(':')
      return /^[./~\\]/.test(name) || name.includes('/') ? undefined : { section: 'volumes', name, at: 0 }
    }
    case 'services':
      return { section: 'services', name: text.split(':')[0]!, at: 0 }
    default:
      return { section: kind, name: text, at: 0 }
  }
}
