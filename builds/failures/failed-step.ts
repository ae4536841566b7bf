import { existsSync, readdirSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { BuildFailure, DockerfilePlace } from '../../adapters/buildkit/failure.ts'
import { readFile } from '../../adapters/files/read-file.ts'
import { type Diagnostic, diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import { Reporter } from '../../compiler/diagnostics/reporter.ts'
import { didYouMean } from '../../compiler/diagnostics/suggest.ts'
import { type At, SourceFile, type Span } from '../../compiler/text/source.ts'
import { dockerfileStages } from '../../compiler/values/dockerfile/dockerfile.ts'
import type { BuildSpec } from '../../compiler/values/images/build-spec.ts'
import { dockerIgnore } from '../../compiler/values/images/ignore-file.ts'
import { dockerfilePlace, dockerfileText } from '../dockerfile-place.ts'
import { type FailureCause, failureCause } from './failure-cause.ts'

/** Facts about a failed build that are used to explain the failure. */
export interface FailedBuild {
  /** Name of the service, or of the entry in the manifest's `build`; empty for a standalone Dockerfile. */
  readonly name: string
  readonly spec: Pick<BuildSpec, 'context' | 'dockerfile'> & Partial<Pick<BuildSpec, 'secrets'>>
  /** Dockerfile that is inlined in the Compose file (`dockerfile_inline`). */
  readonly inline?: At<string>
  /** Position of the service's `build`, for failures whose position the builder does not report. */
  readonly span?: Span | undefined
  /** The service's `target`, if the file sets one. */
  readonly target?: At<string>
  /** Folder that paths are shown relative to. */
  readonly cwd: string
}

const stepFailed = diagnostic({
  code: 'build/step-failed',
  severity: 'error',
  explain: `A step of a Dockerfile failed. The position is that of the instruction, and the last lines that the step has printed are above the message.

An exit status is that of the command: 126 means that a file is not executable, 127 that a program was not found, 137 that it was killed, most often because the builder ran out of memory.

A path that does not exist in the context is either misspelt, or left out by \`.dockerignore\` (or \`<Dockerfile>.dockerignore\`, which is used instead if it exists). Paths in \`COPY\` and \`ADD\` are relative to the context, not to the Dockerfile.

A base image comes from its registry with the logins of this machine's Docker configuration: \`docker login REGISTRY\`.

To see all output again without the cache: \`devctl build --no-cache --progress plain SERVICE\`.`,
  text: ({ name, cause }: { readonly name: string; readonly cause: FailureCause }) => ({
    message: `${name === '' ? 'the build failed' : `the build of \`${name}\` failed`}: ${cause.message}`,
    notes: cause.notes,
    hint: cause.hint,
  }),
})

/**
 * Returns the diagnostic of a failed step, at its instruction in the Dockerfile. To explain a missing path, reads the
 * ignore file that applies to the build.
 */
export function failedStep(failure: BuildFailure, build: FailedBuild): Diagnostic {
  const place = dockerfilePlace(failure, build.spec)
  const instruction = place ? linesOf(place).join('\n') : ''
  const text = place?.text ?? dockerfileText(build.spec) ?? ''
  const stages = (dockerfileStages(text) ?? []).filter(stage => !/^\d+$/.test(stage))
  const { message, exitStatus } = failure
  const found = failureCause({ message, exitStatus, instruction, stages })
  const notes = exitStatus === undefined ? [] : missingSecrets(instruction, build)
  const cause = { ...found, notes, ...(found.missing !== undefined && missingPath(found.missing, build)) }
  const reporter = new Reporter()
  reporter.report(
    stepFailed,
    found.target !== undefined && found.target === build.target?.value
      ? build.target.span
      : spanOf(place, cause.about, build),
    { name: build.name, cause },
  )
  return reporter.diagnostics()[0]!
}

const linesOf = ({ text, start, end }: DockerfilePlace): readonly string[] => text.split('\n').slice(start - 1, end)

function spanOf(place: DockerfilePlace | undefined, about: string | undefined, build: FailedBuild): Span | undefined {
  if (!place) return build.span
  if (build.inline) return inlineSpan(place, about, build.inline)
  const file = new SourceFile(shownDockerfile(place, build), place.text)
  const before = place.text.split('\n').slice(0, place.start - 1)
  const start = before.reduce((sum, line) => sum + line.length + 1, 0)
  return within(file, start, start + linesOf(place).join('\n').length, about)
}

/**
 * Returns the span of the text `about` within a range of a file. If the range does not contain that text, returns the
 * span of the first line of the range.
 */
function within(file: SourceFile, start: number, end: number, about: string | undefined): Span {
  const text = file.text.slice(start, end)
  const at = about === undefined ? -1 : text.indexOf(about)
  if (about !== undefined && at >= 0) return { file, start: start + at, end: start + at + about.length }
  const first = text.split('\n')[0]!
  const indent = first.length - first.trimStart().length
  return { file, start: start + indent, end: start + Math.max(indent + 1, first.trimEnd().length) }
}

/**
 * Returns the span of a Dockerfile's lines within the Compose file. If the Compose file does not contain the Dockerfile
 * line by line, returns the span of the full Dockerfile.
 */
function inlineSpan(place: DockerfilePlace, about: string | undefined, { span }: At<string>): Span {
  const { file, start, end } = span
  const wanted = place.text.split('\n').map(line => line.trim())
  const lines = file.text.slice(start, end).split('\n')
  const first = lines.findIndex(line => line.trim() === wanted[0])
  const index = first + place.start - 1
  if (first < 0 || lines[index]?.trim() !== wanted[place.start - 1]) return span
  const at = start + lines.slice(0, index).reduce((sum, line) => sum + line.length + 1, 0)
  const length = lines.slice(index, index + place.end - place.start + 1).join('\n').length
  return within(file, at, at + length, about)
}

function shownDockerfile({ filename }: DockerfilePlace, { spec, cwd }: FailedBuild): string {
  if ('text' in spec.dockerfile) return filename
  return 'remote' in spec.context ? spec.dockerfile.path : shownPath(spec.dockerfile.path, cwd)
}

/** Returns a path for messages: relative to `cwd` if that is shorter, otherwise unchanged. */
export const shownPath = (path: string, cwd: string): string => {
  const short = relative(cwd, path)
  return short.length < path.length ? short : path
}

/**
 * Returns notes about secrets that a step mounts but the build does not have. BuildKit runs the step without such a
 * secret unless the mount has `required`.
 */
function missingSecrets(instruction: string, { spec: { secrets } }: FailedBuild): readonly string[] {
  const mounts = [...instruction.matchAll(/--mount=(\S*type=secret\S*)/g)].map(([, options]) => options!)
  const ids = mounts.flatMap(options => /(?:^|,)id=([^,\s]+)/.exec(options)?.[1]?.replaceAll(/['"]/g, '') ?? [])
  return [...new Set(ids)]
    .filter(id => secrets && !secrets.has(id))
    .map(
      id =>
        `the build has no secret \`${id}\`, which this step mounts: list it under \`secrets\` of \`build\`, or add \`--secret id=${id},src=FILE\``,
    )
}

/**
 * Returns an explanation of why a path is not in the context: the ignore file excludes the path, or the path does not
 * exist. Returns an empty object if the context is a URL.
 */
function missingPath(path: string, { spec, cwd }: FailedBuild): Partial<FailureCause> {
  if ('remote' in spec.context) return {}
  const { folder } = spec.context
  const ignore = ignoreFileOf(folder, spec.dockerfile)
  const exists = existsSync(join(folder, path))
  if (exists && ignore && dockerIgnore(ignore.text)(path))
    return {
      message: `\`${path}\` is not in the context: \`${shownPath(ignore.path, cwd)}\` leaves it out`,
      hint: includingHint(path, ignore.text),
    }
  const near = exists ? undefined : didYouMean(path, neighbours(folder, path))
  return { hint: near ?? `paths are relative to the context, which is \`${shownPath(folder, cwd) || '.'}\`` }
}

/**
 * Returns a hint for including a path in the context. If the path is excluded only by a line that names exactly this
 * path, the hint is to remove the line. Otherwise the hint is to add an exception, since a pattern may be needed for
 * other files.
 */
function includingHint(path: string, ignore: string): string {
  const bare = (text: string) =>
    text
      .trim()
      .replace(/^\.?\//, '')
      .replace(/\/$/, '')
  const lines = ignore.split('\n')
  const own = lines.find(line => bare(line) === bare(path))
  const isOnly = own !== undefined && !dockerIgnore(lines.filter(line => line !== own).join('\n'))(path)
  return !isOnly ? `add the line \`!${path}\` to its end` : `remove the line \`${own.trim()}\` from it`
}

function neighbours(folder: string, path: string): readonly string[] {
  const inside = dirname(path)
  try {
    return readdirSync(join(folder, inside)).map(name => join(inside, name))
  } catch {
    return []
  }
}

/**
 * Returns the ignore file that applies to a build, according to
 * https://docs.docker.com/build/concepts/context/#filename-and-location.
 * Returns undefined if there is none.
 */
function ignoreFileOf(folder: string, dockerfile: BuildSpec['dockerfile']): { path: string; text: string } | undefined {
  const own = 'path' in dockerfile ? [`${dockerfile.path}.dockerignore`] : []
  for (const path of [...own, join(folder, '.dockerignore')]) {
    const content = readFile(path)
    if (content.kind === 'file') return { path, text: new TextDecoder().decode(content.bytes) }
  }
  return undefined
}
