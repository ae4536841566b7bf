import { resolve } from 'node:path/posix'
import { defaultDockerfile, mayUseCache, onThisMachine } from '../compose/build-files.ts'
import { noSecret } from '../compose/build-spec.ts'
import { mayRead } from '../compose/read/storage/outside-files.ts'
import { diagnostic } from '../diagnostics/diagnostic.ts'
import type { Reporter } from '../diagnostics/reporter.ts'
import type { CompilerHost } from '../host.ts'
import type { At } from '../text/source.ts'
import { type BuildCache, parseBuildCaches } from '../values/images/build-cache.ts'
import { type ContextSource, parseContext } from '../values/images/build-context.ts'
import {
  type BuildSecretSource,
  type BuildSpec,
  type DockerfileSource,
  PLAIN_BUILD,
} from '../values/images/build-spec.ts'
import { DEFAULT_PLATFORM } from '../values/images/platform.ts'
import type { BuildSecret, DevctlManifest, ImageBuild } from './manifest.ts'
import { withLateVariables } from './variables.ts'

const elsewhere = diagnostic({
  code: 'manifest/dockerfile-elsewhere',
  severity: 'warning',
  explain:
    '`dockerfile` is relative to the build context. If it does not exist there, the folder of the manifest is searched, too; if it exists in both, that of the context is used. Write the path relative to the context, so that there is no doubt.',
  text: (p: { dockerfile: string; isInBoth: boolean }) => ({
    message: p.isInBoth
      ? `the Dockerfile \`${p.dockerfile}\` exists in the build context and in the folder of the manifest; the first is used`
      : `the Dockerfile \`${p.dockerfile}\` is not in the build context; that in the folder of the manifest is used`,
    hint: 'write its path relative to the build context',
  }),
})

const noContext = diagnostic({
  code: 'manifest/build-context',
  severity: 'error',
  explain:
    'The build context of an image does not exist or is not a folder. It is relative to the folder of the manifest; a repository or archive is named by its URL.',
  text: (p: { context: string }) => ({
    message: `the build context \`${p.context}\` is not a folder`,
    hint: 'correct the path; it is relative to the folder of the manifest',
  }),
})

export interface ManifestBuildWorld {
  readonly manifest: Pick<DevctlManifest, 'folder'>
  readonly host: CompilerHost
  /** The `DEVCTL_BUILD_…` variables of the images in `depends_on`, which have already been built. */
  readonly built: ReadonlyMap<string, string>
}

/**
 * Returns the build spec of an image of the manifest. The arguments of the build include the variables of the images in
 * `depends_on`. Reports secrets whose values are not known, a context that does not exist, a Dockerfile that is not in
 * the context, and files outside the project.
 */
export function manifestBuildSpec(build: ImageBuild, world: ManifestBuildWorld, reporter: Reporter): BuildSpec {
  const { folder } = world.manifest
  const text = ({ value }: At<string>) => withLateVariables(value, world.built)
  const context = manifestContext(text(build.context), folder)
  if ('folder' in context) {
    if (world.host.stat(context.folder)?.kind === 'folder')
      mayRead(world.host, context.folder, build.context.span, reporter)
    else reporter.report(noContext, build.context.span, { context: text(build.context) })
  }
  const caches = (items: readonly At<string>[], use: 'from' | 'to', key: 'src' | 'dest') =>
    items.flatMap((item): readonly BuildCache[] => {
      const found = parseBuildCaches(text(item), use)
      if (!found.ok) return []
      const place = { host: world.host, reporter, span: item.span }
      for (const one of found.value) mayUseCache(one, key, { directory: folder }, place)
      return found.value.map(one => onThisMachine(one, key, { directory: folder }))
    })
  const exported = build.exportCache.map(text)
  const platform = world.host.environment.get(DEFAULT_PLATFORM)
  return {
    ...PLAIN_BUILD,
    context,
    dockerfile: dockerfileOf(build, context, world, reporter),
    dependsOn: build.dependsOn.map(({ value }) => value),
    ...(build.target && { target: text(build.target) }),
    ...(platform && { platforms: [platform] }),
    args: new Map([...build.args.map(arg => [arg.name, text(arg)] as const), ...world.built]),
    cacheFrom: caches(build.cacheFrom, 'from', 'src'),
    cacheTo: caches(
      build.exportCache.filter(item => text(item).includes('=')),
      'to',
      'dest',
    ),
    exportCache: exported.filter(item => !item.includes('=')),
    secrets: new Map(
      build.secrets.flatMap(secret => {
        const source = secretSource(secret, world, reporter)
        return source ? [[secret.id, source]] : []
      }),
    ),
  }
}

/** Returns the context of an image: a folder, which is resolved against the manifest's folder, or a URL. */
export function manifestContext(text: string, folder: string): ContextSource {
  const parsed = parseContext(text)
  return parsed.ok && 'folder' in parsed.value ? { folder: resolve(folder, parsed.value.folder) } : { remote: text }
}

function dockerfileOf(
  { dockerfile }: ImageBuild,
  context: ContextSource,
  { manifest, host, built }: ManifestBuildWorld,
  reporter: Reporter,
): DockerfileSource {
  if ('remote' in context) return { path: dockerfile ? withLateVariables(dockerfile.value, built) : 'Dockerfile' }
  const path = dockerfile ? withLateVariables(dockerfile.value, built) : defaultDockerfile(context.folder, host)
  const [inContext, beside] = [context.folder, manifest.folder].map(folder => resolve(folder, path)) as [string, string]
  if (!dockerfile || inContext === beside) return { path: inContext }
  const [isInContext, isBeside] = [inContext, beside].map(one => host.stat(one)?.kind === 'file')
  if (isBeside) reporter.report(elsewhere, dockerfile.span, { dockerfile: path, isInBoth: isInContext === true })
  const chosen = isBeside && !isInContext ? beside : inContext
  mayRead(host, chosen, dockerfile.span, reporter)
  return { path: chosen }
}

function secretSource(
  { id, from, source, value }: BuildSecret,
  { manifest, host, built }: ManifestBuildWorld,
  reporter: Reporter,
): BuildSecretSource | undefined {
  if (from === 'file') {
    const path = withLateVariables(source.value, built)
    const inHome = /^~(?:$|\/)/.test(path) && host.homeDirectory !== undefined
    const file = inHome ? resolve(host.homeDirectory, `.${path.slice(1)}`) : resolve(manifest.folder, path)
    const kind = host.stat(file)?.kind
    if (kind === undefined || kind === 'folder') reporter.report(noSecret, source.span, { name: id, file: path })
    else mayRead(host, file, source.span, reporter)
    return { file }
  }
  if (value !== undefined) return { value }
  reporter.report(noSecret, source.span, { name: id, variable: source.value })
  return undefined
}
