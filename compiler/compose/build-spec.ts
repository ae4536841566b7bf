import { resolve } from 'node:path/posix'
import { diagnostic } from '../diagnostics/diagnostic.ts'
import type { Reporter } from '../diagnostics/reporter.ts'
import type { At } from '../text/source.ts'
import { parseContext } from '../values/images/build-context.ts'
import type { BuildSecretSource, BuildSpec, DockerfileSource } from '../values/images/build-spec.ts'
import { keyPaths, onThisMachine } from './build-files.ts'
import type { Build, BuildSecretUse, Project, Service } from './project.ts'

/** Diagnostic for a build secret whose value is not known. */
export const noSecret = diagnostic({
  code: 'build/secret-not-available',
  severity: 'error',
  explain: `A secret of a build comes from this machine: from a file or a variable. This one is \`external\`, its variable is not set, or its file does not exist. Only commands that build need its value; \`render\` does not.

\`\`\`yaml
secrets:
  npm_token:
    environment: NPM_TOKEN
\`\`\``,
  text: ({ name, variable, file }: { name: string; variable?: string | undefined; file?: string }) => {
    if (file !== undefined)
      return {
        message: `the build secret \`${name}\` takes its value from \`${file}\`, which is not a file`,
        hint: 'create the file, or check its path',
      }
    if (variable !== undefined)
      return {
        message: `the build secret \`${name}\` takes its value from \`${variable}\`, which is not set`,
        hint: `set \`${variable}\` in the shell or in .env`,
      }
    return {
      message: `the build secret \`${name}\` is external, so its value is not known here`,
      hint: 'give the secret a `file` or an `environment`',
    }
  },
})

/**
 * Returns the build spec of a service's image; undefined if the service has no `build`. Reports secrets whose values
 * are not known, except those with an id in `given`, whose values are supplied in another way.
 */
export function composeBuildSpec(
  service: Service,
  project: Project,
  reporter: Reporter,
  given: ReadonlySet<string> = new Set(),
): BuildSpec | undefined {
  const { build, platform } = service
  if (!build) return undefined
  const { network, shmSize, provenance, sbom, target } = build
  const platforms = values(build.platforms)
  return {
    context: contextOf(build),
    dockerfile: dockerfileOf(build),
    contexts: new Map(build.additionalContexts.map(({ name, span: _, ...context }) => [name, context])),
    dependsOn: build.additionalContexts.flatMap(context => context.service ?? []),
    ...(target && { target: target.value }),
    args: toMap(build.args),
    labels: toMap(build.labels),
    platforms: platforms.length === 0 && platform ? [platform.value] : platforms,
    noCache: build.noCache || (build.noCacheFilter.length > 0 && values(build.noCacheFilter)),
    pull: build.pull,
    ...(network && { network: network.value }),
    extraHosts: build.extraHosts.map(({ host, address }) => ({ host, address })),
    ...(shmSize && { shmSize: Number(shmSize.value) }),
    ulimits: build.ulimits.map(({ name, soft, hard }) => ({ name, soft, hard })),
    entitlements: values(build.entitlements),
    ...(provenance && { provenance: provenance.value }),
    ...(sbom && { sbom: sbom.value }),
    cacheFrom: build.cacheFrom.map(({ value }) => onThisMachine(value, 'src', project)),
    cacheTo: build.cacheTo.map(({ value }) => onThisMachine(value, 'dest', project)),
    exportCache: build.exportCache ? [build.exportCache.value] : [],
    secrets: new Map(
      build.secrets.flatMap(secret => {
        if (given.has(secret.id)) return []
        const source = secretSource(secret, project, reporter)
        return source ? [[secret.id, source]] : []
      }),
    ),
    ssh: new Map(build.ssh.map(({ id, path = '' }) => [id, keyPaths(path, project)])),
  }
}

const values = <T>(list: readonly At<T>[]): readonly T[] => list.map(({ value }) => value)

const toMap = (pairs: Build['args']): ReadonlyMap<string, string> =>
  new Map(pairs.map(({ name, value }) => [name, value]))

/**
 * Parses the build context. An invalid context is passed through as a remote context, because it was reported when the
 * file was read.
 */
function contextOf({ context }: Build): BuildSpec['context'] {
  const found = parseContext(context.value)
  return found.ok ? found.value : { remote: context.value }
}

function dockerfileOf(build: Build): DockerfileSource {
  const { dockerfile, dockerfileInline } = build
  if (dockerfileInline) return { text: dockerfileInline.value }
  const path = dockerfile?.value ?? 'Dockerfile'
  const context = contextOf(build)
  return { path: 'folder' in context ? resolve(context.folder, path) : path }
}

function secretSource(
  { source: name, span }: BuildSecretUse,
  { secrets }: Project,
  reporter: Reporter,
): BuildSecretSource | undefined {
  const secret = secrets.get(name)
  const source = secret?.source
  switch (source?.kind) {
    case 'file':
      return { file: source.path.value }
    case 'content':
      return { value: source.value }
    case 'variable':
      if (source.value !== undefined) return { value: source.value }
  }
  // An undefined secret has already been reported.
  if (secret) reporter.report(noSecret, span, { name, variable: source?.name.value })
  return undefined
}
