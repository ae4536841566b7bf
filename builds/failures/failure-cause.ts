import { didYouMean } from '../../compiler/diagnostics/suggest.ts'

/** Reason why a step failed, phrased for a diagnostic. */
export interface FailureCause {
  readonly message: string
  readonly hint?: string | undefined
  readonly notes?: readonly string[]
  /** Part of the instruction that the cause is about. If absent, the full instruction. */
  readonly about?: string
  /** Path that does not exist in the context or in a stage. */
  readonly missing?: string
  /** Name of a target stage that the Dockerfile does not have. */
  readonly target?: string
}

/** Facts about a failed step, from which the cause of the failure is determined. */
export interface FailedInstruction {
  /** Error message of BuildKit. */
  readonly message: string
  readonly exitStatus: number | undefined
  /** Instruction of the Dockerfile; empty if BuildKit does not report it. */
  readonly instruction: string
  readonly stages: readonly string[]
}

/**
 * Determines the cause of a failed step. BuildKit and its frontend have no codes for most causes, so causes are
 * recognized by the message texts of BuildKit 0.11 to 0.33.
 */
export function failureCause(failed: FailedInstruction): FailureCause {
  for (const read of [
    exited,
    notRun,
    imageNotFound,
    pathNotFound,
    secretNotFound,
    notParsed,
    blankBase,
    noStage,
    noTarget,
    noRepository,
  ]) {
    const cause = read(failed)
    if (cause) return cause
  }
  return { message: oneLine(failed.message) }
}

/** Returns a builder's message as one line. Joins the lines with `; ` and omits duplicate lines. */
export const oneLine = (text: string): string =>
  [...new Set(text.split('\n').map(line => line.trim().replace(/^: /, '')))]
    .filter(line => line !== '')
    .join('; ')
    .replaceAll(/:; /g, ': ')

type Reader = (failed: FailedInstruction) => FailureCause | undefined

const exited: Reader = ({ message, exitStatus }) => {
  const status =
    exitStatus ?? Number(/did not complete successfully: exit code: (\d+)/.exec(message)?.[1] ?? Number.NaN)
  if (Number.isNaN(status) || status === 0) return undefined
  return { message: `the command exited with status ${status}`, hint: EXIT_HINTS[status] }
}

const EXIT_HINTS: Readonly<Record<number, string>> = {
  126: 'a file is not executable: run `chmod +x` on it before it is copied, or run it with its interpreter',
  127: 'a program was not found: install it in a step before this one, or check its name',
  137: 'it was killed, most often because the builder ran out of memory: give the builder more memory, or let the command use less',
}

const notRun: Reader = ({ message }) => {
  const reason = /^process ".*" did not complete successfully: (.+)$/s.exec(message)?.[1]
  return reason === undefined ? undefined : { message: `the command could not be run: ${reason}` }
}

const imageNotFound: Reader = ({ message, stages, instruction }) => {
  const found = /(?:^(\S+): )?failed to resolve source metadata for (\S+): (.*)$/s.exec(message)
  if (!found) return undefined
  const [, written, full = '', reason = ''] = found
  const image = written ?? full
  const registry = full.split('/')[0]!
  const about = image
  const isName = !/[:/@.]/.test(image)
  const near = isName ? didYouMean(image, stages) : undefined
  if (
    /pull access denied|insufficient_scope|authorization failed|unauthorized|denied|forbidden|\b40[13]\b/i.test(reason)
  ) {
    const message = `the registry \`${registry}\` does not allow pulling \`${image}\`, or does not have it`
    return { message, hint: near ?? `check the name, and log in: \`docker login ${registry}\``, about }
  }
  if (!/not found/i.test(reason)) {
    const [, cause = reason] = /failed to do request: \w+ "[^"]*": (.*)$/s.exec(reason) ?? []
    const message = `\`${image}\` could not be read from the registry \`${registry}\`: ${cause}`
    return { message, hint: near ?? `check that the builder can reach \`${registry}\``, about }
  }
  if (isName && (/--from=/.test(instruction) || near !== undefined)) {
    const message = `\`${image}\` is neither a stage of the Dockerfile nor an image in \`${registry}\``
    return { message, hint: near ?? listOf(stages), about }
  }
  return {
    message: `the image \`${image}\` does not exist in the registry \`${registry}\``,
    hint: 'check its name and tag',
    about,
  }
}

const pathNotFound: Reader = ({ message, instruction, stages }) => {
  const path =
    /failed to calculate checksum of ref .*"(.+)": not found$/s.exec(message)?.[1] ??
    /^(?:.*: )?lstat (.+): no such file or directory$/s.exec(message)?.[1]
  if (path === undefined) return undefined
  const about = path.replace(/^\//, '')
  const from = /--from=(\S+)/.exec(instruction)?.[1]
  if (from === undefined) return { message: `\`${about}\` does not exist in the context`, about, missing: about }
  const isStage = /^\d+$/.test(from) || stages.some(name => name.toLowerCase() === from.toLowerCase())
  return {
    message: `\`${path}\` does not exist in the ${isStage ? 'stage' : 'context or image'} \`${from}\``,
    about: path,
  }
}

const secretNotFound: Reader = ({ message }) => {
  const id = /(?:^|: )secret (\S+): not found$/.exec(message)?.[1]
  if (id === undefined) return undefined
  const hint = `list it under \`secrets\` of \`build\`, or add \`--secret id=${id},src=FILE\``
  return { message: `the build has no secret \`${id}\``, hint, about: `id=${id}` }
}

const notParsed: Reader = ({ message }) => {
  const found = /^dockerfile parse error (?:on )?line \d+: (.*?)(?: \(did you mean (\S+)\?\))?$/s.exec(message)
  if (!found) return undefined
  const [, sentences = '', near] = found
  const [problem = ''] = sentences.split('. ')
  const [, unknown] = /^unknown instruction: (\S+)/.exec(problem) ?? []
  return {
    message: unknown === undefined ? lowerCase(problem) : `\`${unknown}\` is not an instruction of a Dockerfile`,
    ...(near !== undefined && { hint: `did you mean \`${near}\`?` }),
    ...(unknown !== undefined && { about: unknown }),
  }
}

const blankBase: Reader = ({ message }) => {
  const word = /^base name \((.+)\) should not be blank$/.exec(message)?.[1]
  if (word === undefined) return undefined
  const name = /\$\{?(\w+)/.exec(word)?.[1] ?? word
  const hint = `give \`${name}\` a value under \`args\` of \`build\`, or a default in the Dockerfile: \`ARG ${name}=…\``
  return { message: `\`${word}\` is empty, so this stage has no base image`, hint, about: word }
}

const noStage: Reader = ({ message }) => {
  if (message === 'no build stage in current context') return { message: 'there is no `FROM` before this instruction' }
  if (/^the Dockerfile(?: \(.*\))? cannot be empty$/i.test(message)) return { message: 'the Dockerfile is empty' }
  return message === 'file with no instructions' ? { message: 'the Dockerfile has no instructions' } : undefined
}

/** Returns a hint that lists the stages of a Dockerfile; undefined if no stage has a name. */
const listOf = (stages: readonly string[]): string | undefined =>
  stages.length > 0 ? `its stages are ${stages.map(name => `\`${name}\``).join(', ')}` : undefined

const noTarget: Reader = ({ message, stages }) => {
  const [, target, near] = /target stage "([^"]*)" could not be found(?: \(did you mean (\S+)\?\))?/.exec(message) ?? []
  if (target === undefined) return undefined
  const hint = near === undefined ? (didYouMean(target, stages) ?? listOf(stages)) : `did you mean \`${near}\`?`
  return { message: `the Dockerfile has no stage \`${target}\``, hint, target }
}

const noRepository: Reader = ({ message }) => {
  const [, said] = /git stderr:\s*(.*?)\s*: exit status \d+/s.exec(message) ?? []
  if (said === undefined) return undefined
  const [, repository] = /repository (\S+?): git stderr/.exec(message) ?? []
  const name = repository === undefined ? 'a repository' : `\`${repository}\``
  const hint =
    'check its address, and that the builder can reach it; the builder fetches it, with the logins of the build'
  return { message: `${name} could not be fetched: ${oneLine(said)}`, hint }
}

/**
 * Returns a sentence with its first letter in lower case, as in devctl's messages. Does not change an abbreviation such
 * as `URL` at the start.
 */
const lowerCase = (text: string): string =>
  /^[A-Z][a-z]/.test(text) ? `${text[0]!.toLowerCase()}${text.slice(1)}` : text
