import { diagnostic } from '../../diagnostics/diagnostic.ts'
import { didYouMean } from '../../diagnostics/suggest.ts'
import type { At, Span } from '../../text/source.ts'
import { spanInside } from '../../text/span-inside.ts'
import { entry, isMap, type MapTree, type ScalarTree } from '../../text/tree.ts'
import { parseAttestation } from '../../values/images/attestation.ts'
import { type BuildCache, parseBuildCaches } from '../../values/images/build-cache.ts'
import { parseContext, parseNamedContext } from '../../values/images/build-context.ts'
import { DEFAULT_PLATFORM, parsePlatform } from '../../values/images/platform.ts'
import type { Failed, Parsed } from '../../values/parsed.ts'
import type { Build, BuildSecretUse, NamedContext, SshKey } from '../project.ts'
import type { ReadContext } from './context.ts'
import { parseReference } from './image.ts'
import { readExtraHosts } from './network/networks.ts'
import { readShmSize } from './storage/volumes.ts'
import {
  entries,
  flag,
  integer,
  integerOf,
  items,
  list,
  nonEmptyText,
  pairs,
  scalar,
  scalars,
  sortByName,
  textOf,
} from './tree-values.ts'

const badValue = diagnostic({
  code: 'build/bad-value',
  severity: 'error',
  explain: `A value of \`build\` cannot be parsed, or the builder cannot use it. The message says what is wrong, and the hint what to write. The forms are:

| key | form |
|---|---|
| \`context\` | a folder, or the URL of a repository or archive (\`https://\`, \`git://\`, \`ssh://\`, \`git@HOST:PATH\`) |
| \`additional_contexts\` | the same, \`docker-image://IMAGE\`, or \`service:NAME\` |
| \`cache_from\`, \`cache_to\` | an image, or \`type=TYPE,KEY=VALUE,…\` with the type \`registry\`, \`local\`, \`inline\`, \`gha\`, \`s3\` or \`azblob\` |
| \`platforms\` | \`OS/ARCHITECTURE\` or \`OS/ARCHITECTURE/VARIANT\`: \`linux/arm64\` |
| \`provenance\`, \`sbom\` | \`true\`, \`false\`, or parameters: \`mode=max\` |

\`docs/compose/services.md\` lists all keys.`,
  text: (p: { key: string; value: string; reason: string; hint?: string | undefined }) => ({
    message: p.value === '' ? `\`${p.key}\` is empty` : `\`${p.key}\` is \`${p.value}\`: ${p.reason}`,
    hint: p.hint,
  }),
})
const namedNetwork = diagnostic({
  code: 'build/named-network',
  severity: 'warning',
  loss: true,
  explain:
    'The steps of a build run in the network of the builder. `network: host` gives them the network of the builder’s machine, and `network: none` gives them none. The networks of an application exist in the cluster, and BuildKit cannot join a network by its name, so the key is left out.',
  text: (p: { network: string }) => ({
    message: `a build cannot join the network \`${p.network}\`; it uses the network of the builder`,
    hint: 'remove `network`, or write `host` or `none`',
  }),
})
const hostGateway = diagnostic({
  code: 'build/host-gateway',
  severity: 'warning',
  loss: true,
  explain:
    '`host-gateway` in `extra_hosts` is the machine that runs the container engine. A builder may be on another machine, and BuildKit accepts only IP addresses here, so the entry is left out. Give the address, or let the build use the network of the builder’s machine with `network: host`.',
  text: (p: { host: string }) => ({
    message: `\`host-gateway\` is not known during a build; the extra host \`${p.host}\` is left out`,
    hint: `write the IP address: \`${p.host}=192.0.2.10\``,
  }),
})
const unknownEntitlement = diagnostic({
  code: 'build/unknown-entitlement',
  severity: 'error',
  explain:
    'An entitlement allows the steps of a build more than usual, if the builder grants it: `network.host` (the network of the builder’s machine), `security.insecure` (privileges, as `privileged: true`), `device` (CDI devices). BuildKit refuses others.',
  text: (p: { name: string }) => ({
    message: `\`${p.name}\` is not an entitlement`,
    hint:
      didYouMean(p.name, ENTITLEMENTS) ?? `the entitlements are ${ENTITLEMENTS.map(one => `\`${one}\``).join(', ')}`,
  }),
})

const ENTITLEMENTS = ['network.host', 'security.insecure', 'device']

/** Reads `build`. Reports values that no builder accepts. */
export function readBuild(service: MapTree, context: ReadContext): Build | undefined {
  const found = entry(service, 'build')
  if (!isMap(found?.value)) return undefined
  const build = found.value
  const from = new BuildReader(build, context)
  return {
    span: found.key,
    context: from.context() ?? { value: context.directory, span: found.key },
    ...optional('dockerfile', nonEmptyText(build, 'dockerfile')),
    ...optional('dockerfileInline', nonEmptyText(build, 'dockerfile_inline')),
    ...optional('target', nonEmptyText(build, 'target')),
    args: pairs(build, ['args']),
    additionalContexts: from.additionalContexts(),
    cacheFrom: from.caches('cache_from', 'from'),
    cacheTo: from.caches('cache_to', 'to'),
    ...optional('exportCache', from.reference('export_cache')),
    noCache: flag(build, 'no_cache')?.value ?? false,
    noCacheFilter: list(build, 'no_cache_filter').filter(({ value }) => value !== ''),
    pull: flag(build, 'pull')?.value ?? false,
    secrets: readSecrets(build),
    ssh: readSsh(build),
    labels: pairs(build, ['labels'], ''),
    tags: scalars(build, 'tags').flatMap(tag => parseReference(tag, context) ?? []),
    platforms: from.platforms(nonEmptyText(service, 'platform') !== undefined, found.key),
    ...optional('network', from.network()),
    extraHosts: from.extraHosts(),
    ...optional('shmSize', readShmSize(build)),
    ulimits: readUlimits(build),
    entitlements: from.entitlements(),
    ...optional('provenance', from.attestation('provenance', 'mode=max')),
    ...optional('sbom', from.attestation('sbom', 'generator=IMAGE')),
  }
}

/**
 * Reads the keys of `build` that have a grammar. Methods return undefined if the key is absent, empty or invalid (which
 * is reported).
 */
class BuildReader {
  readonly #build: MapTree
  readonly #context: ReadContext

  constructor(build: MapTree, context: ReadContext) {
    this.#build = build
    this.#context = context
  }

  context(): At<string> | undefined {
    const found = scalar(this.#build, 'context')
    if (!found || found.value === '') return undefined
    this.parse('context', found, parseContext)
    return textOf(found)
  }

  additionalContexts(): readonly NamedContext[] {
    const written = [...entries(this.#build, 'additional_contexts')].flatMap(([name, { value }]) => {
      if (value.kind !== 'scalar') return []
      const text: ScalarTree = value.type === 'null' ? { ...value, value: '' } : value
      const source = this.parse(`additional_contexts.${name}`, text, parseNamedContext)
      return source ? [{ ...source.value, name, span: value.span }] : []
    })
    // BuildKit prefers a named context over the image of the same name.
    const implied = this.#context.baseImages.map(({ service, image, span }) => ({ service, name: image, span }))
    return [...written, ...implied]
  }

  caches(key: string, use: 'from' | 'to'): readonly At<BuildCache>[] {
    return scalars(this.#build, key).flatMap(item => {
      const found = this.parse(key, item, text => parseBuildCaches(text, use))
      return (found?.value ?? []).map(value => ({ value, span: item.span }))
    })
  }

  platforms(hasPlatform: boolean, span: Span): readonly At<string>[] {
    const written = scalars(this.#build, 'platforms').filter(({ value }) => value !== '')
    if (written.length > 0 || hasPlatform)
      return written.flatMap(item => this.parse('platforms', item, parsePlatform) ?? [])
    return this.#defaultPlatform(span)
  }

  #defaultPlatform(span: Span): readonly At<string>[] {
    const { defaultPlatform, reporter } = this.#context
    if (defaultPlatform === undefined) return []
    const found = parsePlatform(defaultPlatform)
    if (found.ok) return [{ value: found.value, span }]
    const { reason, hint } = found
    reporter.report(badValue, span, { key: DEFAULT_PLATFORM, value: defaultPlatform, reason, hint })
    return []
  }

  reference(key: string): At<string> | undefined {
    const found = scalar(this.#build, key)
    return found && parseReference(found, this.#context)
  }

  network(): Build['network'] {
    const found = nonEmptyText(this.#build, 'network')
    if (!found || found.value === 'default') return undefined
    if (found.value === 'host' || found.value === 'none') return { value: found.value, span: found.span }
    this.#context.reporter.report(namedNetwork, found.span, { network: found.value })
    return undefined
  }

  extraHosts(): Build['extraHosts'] {
    return readExtraHosts(this.#build, this.#context).filter(({ host, address, span }) => {
      if (address === 'host-gateway') this.#context.reporter.report(hostGateway, span, { host })
      return address !== 'host-gateway'
    })
  }

  entitlements(): readonly At<string>[] {
    const written = list(this.#build, 'entitlements').filter(({ value }) => value !== '')
    const known = written.filter(({ value, span }) => {
      const isKnown = ENTITLEMENTS.includes(value.replace(/^device=.*/s, 'device'))
      if (!isKnown) this.#context.reporter.report(unknownEntitlement, span, { name: value })
      return isKnown
    })
    const network = nonEmptyText(this.#build, 'network')
    const privileged = flag(this.#build, 'privileged')
    const implied = [
      ...(network?.value === 'host' ? [{ value: 'network.host', span: network.span }] : []),
      ...(privileged?.value ? [{ value: 'security.insecure', span: privileged.span }] : []),
    ]
    return [...known, ...implied.filter(one => known.every(({ value }) => value !== one.value))]
  }

  attestation(key: 'provenance' | 'sbom', example: string): At<string | false> | undefined {
    const found = scalar(this.#build, key)
    if (!found || found.value === '') return undefined
    return this.parse(key, found, text => parseAttestation(text, example))
  }

  /** Parses a scalar. If the text is invalid, reports an error at the invalid part and returns undefined. */
  parse<T>(key: string, found: ScalarTree, parse: (text: string) => Parsed<T>): At<T> | undefined {
    const value = String(found.value)
    const result = parse(value)
    if (result.ok) return { value: result.value, span: found.span }
    this.#report(key, value, found, result)
    return undefined
  }

  #report(key: string, value: string, found: ScalarTree, { reason, hint, start = 0, end = value.length }: Failed) {
    this.#context.reporter.report(badValue, spanInside(found, start, end), { key: `build.${key}`, value, reason, hint })
  }
}

/** Reads the secrets of a build. Secrets without `source` are skipped, because they have already been reported. */
function readSecrets(build: MapTree): readonly BuildSecretUse[] {
  return items(build, 'secrets').flatMap(item => {
    const source = nonEmptyText(item, 'source')
    if (!source) return []
    return [{ id: nonEmptyText(item, 'target')?.value ?? source.value, source: source.value, span: source.span }]
  })
}

/** Reads SSH keys in their canonical form, `ID` or `ID=PATH`. */
function readSsh(build: MapTree): readonly SshKey[] {
  return list(build, 'ssh').map(({ value, span }) => {
    const [, id = value, path] = /^([^=]*)=(.*)$/s.exec(value) ?? []
    return { id, ...optional('path', path), span }
  })
}

function readUlimits(build: MapTree): Build['ulimits'] {
  const limits = [...entries(build, 'ulimits')].flatMap(([name, { key, value }]) => {
    const both = value.kind === 'scalar' ? integerOf(value) : undefined
    const soft = both ?? integer(value, 'soft')?.value
    const hard = both ?? integer(value, 'hard')?.value
    return soft === undefined || hard === undefined ? [] : [{ name, soft, hard, span: key }]
  })
  return sortByName(limits)
}

const optional = <Key extends string, T>(key: Key, value: T | undefined): { readonly [K in Key]?: T } =>
  value === undefined ? {} : ({ [key]: value } as { readonly [K in Key]?: T }) // the key is the one of the type
