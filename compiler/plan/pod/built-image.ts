import { isAbsolute, join, relative } from 'node:path/posix'
import type { Build, Service } from '../../compose/project.ts'
import { mayRead } from '../../compose/read/storage/outside-files.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import { didYouMean } from '../../diagnostics/suggest.ts'
import {
  type DockerfileImage,
  dockerfileArguments,
  dockerfileStages,
  type KnownBase,
  readDockerfile,
} from '../../values/dockerfile/dockerfile.ts'
import { holdsCopy } from '../../values/dockerfile/dockerfile-copies.ts'
import { countOfPatterns, dockerIgnore } from '../../values/images/ignore-file.ts'
import type { PlanContext } from '../context.ts'
import { isInside } from '../storage/host-paths.ts'
import { configuredImage } from './configured-image.ts'

const unknownTarget = diagnostic({
  code: 'build/unknown-target',
  severity: 'warning',
  explain: `\`target\` names the stage of the Dockerfile that becomes the image: its name after \`AS\`, case-insensitive, or its index, from 0. The Dockerfile has no such stage, so the build will fail.

\`\`\`dockerfile
FROM node:22 AS production    # target: production
\`\`\``,
  text: (p: { target: string; stages: readonly string[] }) => ({
    message: `the Dockerfile has no stage \`${p.target}\``,
    hint:
      didYouMean(p.target, p.stages) ??
      (p.stages.length > 0 ? `its stages are ${p.stages.map(name => `\`${name}\``).join(', ')}` : undefined),
  }),
})

const unknownArgument = diagnostic({
  code: 'build/unknown-argument',
  severity: 'warning',
  explain: `A build argument has an effect only where the Dockerfile declares it with \`ARG\`. This Dockerfile does not, so the builder ignores the argument.

\`\`\`dockerfile
ARG TITLE                     # args: {TITLE: Shop}
RUN ./generate --title "$TITLE"
\`\`\`

The arguments that BuildKit reads itself need no \`ARG\`: those of proxies (\`HTTP_PROXY\`, \`NO_PROXY\`, …), of platforms (\`TARGETPLATFORM\`, …), \`SOURCE_DATE_EPOCH\` and \`BUILDKIT_…\`.`,
  text: (p: { name: string; declared: ReadonlySet<string> }) => ({
    message: `the Dockerfile has no \`ARG ${p.name}\`, so the argument has no effect`,
    hint: didYouMean(p.name, p.declared) ?? `add \`ARG ${p.name}\` to the stage that uses it, or remove the argument`,
  }),
})

/** Matches build arguments that need no `ARG`: https://docs.docker.com/reference/dockerfile/#predefined-args */
const PREDEFINED =
  /^(?:(?:http|https|ftp|no|all)_proxy|(?:HTTP|HTTPS|FTP|NO|ALL)_PROXY|(?:TARGET|BUILD)(?:PLATFORM|OS|ARCH|VARIANT)|SOURCE_DATE_EPOCH|BUILDKIT_\w+)$/

/** Reports `build.args` that the Dockerfile does not declare, if the Dockerfile can be read. */
export function checkArguments({ host, reporter }: Pick<PlanContext, 'host' | 'reporter'>, { build }: Service): void {
  const text = build && build.args.length > 0 ? dockerfileOf({ host, reporter }, build) : undefined
  const declared = text === undefined ? undefined : dockerfileArguments(text)
  for (const { name, key, span } of declared ? build!.args : [])
    if (!declared!.has(name) && !PREDEFINED.test(name))
      reporter.report(unknownArgument, key ?? span, { name, declared: declared! })
}

/** Reports a `build.target` that the Dockerfile does not define, if the Dockerfile can be read. */
export function checkTarget({ host, reporter }: Pick<PlanContext, 'host' | 'reporter'>, { build }: Service): void {
  const text = build?.target && dockerfileOf({ host, reporter }, build)
  if (!build?.target || text === undefined) return
  const { value: target, span } = build.target
  const stages = dockerfileStages(text)
  if (!stages) return
  const isNumber = /^[0-9]+$/.test(target) && Number(target) < stages.length
  if (!isNumber && !stages.some(name => name.toLowerCase() === target.toLowerCase()))
    reporter.report(unknownTarget, span, { target, stages: stages.slice(0, 20) })
}

/**
 * Returns the image of a built service as its Dockerfile describes it; undefined for other services and if the
 * Dockerfile cannot be read.
 */
export function builtImage(
  { host, reporter }: Pick<PlanContext, 'host' | 'reporter'>,
  { build }: Service,
  base?: KnownBase,
): DockerfileImage | undefined {
  if (!build) return undefined
  const text = dockerfileOf({ host, reporter }, build)
  if (text === undefined) return undefined
  const args = new Map(build.args.map(({ name, value }) => [name, value]))
  return readDockerfile(text, build.target?.value, args, base)
}

/**
 * Returns true if the built image of a service is known to contain a host path at `target`: its Dockerfile copies the
 * path to `target`, and no ignore file excludes the path from the context. Relative targets in a Dockerfile are known
 * if the Dockerfile or the image's configuration sets the working directory.
 */
export function builtImageHolds(
  context: Pick<PlanContext, 'host' | 'reporter' | 'options'>,
  service: Service,
  path: string,
  target: string,
): boolean {
  const { host, reporter } = context
  const folder = service.build?.context.value
  if (folder === undefined || !isAbsolute(folder) || !isInside(path, folder)) return false
  const image = inWorkdir(context, service)
  if (!image) return false
  const inContext = relative(folder, path)
  const isFolder = host.stat(path)?.kind !== 'file'
  if (!holdsCopy(image.copied, inContext, isFolder, target)) return false
  const rules = ignoreFile({ host, reporter }, service) ?? ''
  reporter.budget.spend('patterns', countOfPatterns(rules), service.build!.context.span)
  const isIgnored = dockerIgnore(rules)
  // If the rules exclude an arbitrary file in a folder, the image does not contain the full folder.
  return !isIgnored(isFolder ? join(inContext, 'devctl-any-file') : inContext)
}

/**
 * Returns the image of a service as its Dockerfile describes it. If the Dockerfile has no WORKDIR, the image has the
 * working directory of its base image, if that is known.
 */
function inWorkdir(
  context: Pick<PlanContext, 'host' | 'reporter' | 'options'>,
  service: Service,
): DockerfileImage | undefined {
  const image = builtImage(context, service)
  const workdir = configuredImage(context, service)?.workdir
  if (image?.base === undefined || image.workdir !== undefined || workdir === undefined) return image
  return builtImage(context, service, { name: image.base, workdir })
}

/**
 * Returns the text of `<Dockerfile>.dockerignore` or, if that file does not exist, of the `.dockerignore` of the
 * context: https://docs.docker.com/build/concepts/context/#dockerignore-files
 */
function ignoreFile(
  { host, reporter }: Pick<PlanContext, 'host' | 'reporter'>,
  { build }: Service,
): string | undefined {
  const may = (path: string) => mayRead(host, path, build!.context.span, reporter)
  const { context, dockerfile, dockerfileInline } = build!
  const own = dockerfileInline ? undefined : `${dockerfile?.value ?? 'Dockerfile'}.dockerignore`
  return (own && readText(host, may, context.value, own)) ?? readText(host, may, context.value, '.dockerignore')
}

function dockerfileOf({ host, reporter }: Pick<PlanContext, 'host' | 'reporter'>, build: Build): string | undefined {
  const may = (path: string) => mayRead(host, path, build.dockerfile?.span ?? build.context.span, reporter)
  return build.dockerfileInline?.value ?? readText(host, may, build.context.value, build.dockerfile?.value)
}

/**
 * Reads a file of the build context on this machine, by default the Dockerfile; returns undefined if the context is a
 * URL.
 */
function readText(
  host: PlanContext['host'],
  may: (path: string) => boolean,
  context: string,
  dockerfile = 'Dockerfile',
): string | undefined {
  if (!isAbsolute(context)) return undefined
  const path = isAbsolute(dockerfile) ? dockerfile : join(context, dockerfile)
  if (!may(path)) return undefined
  const content = host.readFile(path)
  return content.kind === 'file' ? new TextDecoder().decode(content.bytes) : undefined
}
