import type { BuildFailure, DockerfilePlace } from '../adapters/buildkit/failure.ts'
import { readFile } from '../adapters/files/read-file.ts'
import type { BuildSpec } from '../compiler/values/images/build-spec.ts'

type Source = Pick<BuildSpec, 'context' | 'dockerfile'>

/**
 * Returns the position of a failed step in the Dockerfile; undefined if the position is unknown. Builders older than
 * 0.9 (Docker Engine 20.10) report only the name of the step; the step is then searched for in the Dockerfile.
 */
export function dockerfilePlace(failure: BuildFailure, spec: Source): DockerfilePlace | undefined {
  const { place } = failure
  if (place && place.text !== '') return place
  const text = dockerfileText(spec)
  if (text === undefined) return undefined
  if (place) return { ...place, text }
  const found = matching(failure, instructionsOf(text))
  return found && { filename: 'Dockerfile', text, start: found.start, end: found.end }
}

/** Returns the text of a Dockerfile; undefined if it is not on this machine. */
export function dockerfileText({ context, dockerfile }: Source): string | undefined {
  if ('text' in dockerfile) return dockerfile.text
  const content = 'folder' in context ? readFile(dockerfile.path) : undefined
  return content?.kind === 'file' ? new TextDecoder().decode(content.bytes) : undefined
}

interface Instruction {
  /** First line, counted from 1. */
  readonly start: number
  readonly end: number
  /** Text of the instruction without comments, line continuations and whitespace. */
  readonly text: string
  /** Name of the instruction's stage; empty if the stage has no name. */
  readonly stage: string
}

const COMMENT = /^\s*#/

/**
 * Returns the instructions of a Dockerfile. Heredocs are not parsed, because builders older than 0.9 do not support
 * them.
 */
function instructionsOf(text: string): readonly Instruction[] {
  const lines = text.split('\n')
  const found: Instruction[] = []
  let stage = ''
  for (let start = 0; start < lines.length; start++) {
    if (COMMENT.test(lines[start]!) || lines[start]!.trim() === '') continue
    let end = start
    while (end + 1 < lines.length && (/\\\s*$/.test(lines[end]!) || (end > start && COMMENT.test(lines[end]!)))) end++
    const written = lines.slice(start, end + 1).filter(line => !COMMENT.test(line))
    if (/^\s*FROM\s/i.test(lines[start]!)) stage = /\sAS\s+(\S+)\s*$/i.exec(written.join(' '))?.[1] ?? ''
    found.push({ start: start + 1, end: end + 1, text: plain(written.join('\n')), stage })
    start = end
  }
  return found
}

function plain(text: string): string {
  return text.replaceAll(/\\\s*(?:\n|$)/g, ' ').replaceAll(/\s+/g, '')
}

/** Returns the instruction of a step; undefined if the step cannot be matched with certainty. */
function matching({ message, stepName = '' }: BuildFailure, all: readonly Instruction[]): Instruction | undefined {
  const base = /^base name \((.+)\) should not be blank$/.exec(message)?.[1]
  if (base !== undefined) return only(all, ({ text }) => /^FROM/i.test(text) && text.includes(base))
  const [, image] = /^(\S+): failed to resolve source metadata for /.exec(message) ?? []
  if (image !== undefined) return usesImage(all, image)
  const [, group, step] = /^\[(?:(\S+) )?\d+\/\d+\] (.*)$/s.exec(stepName) ?? []
  if (step !== undefined) return ofStep(all, group, plain(step))
  if (/^https?:/.test(stepName)) return only(all, ({ text }) => /^ADD/i.test(text) && text.includes(stepName))
  const command = /^(?:executor failed running \[|process ")(.*?)(?:\]: |" did not )/s.exec(message)?.[1]
  if (command === undefined) return undefined
  const wanted = plain(command.replace(/^\/bin\/sh -c /, ''))
  return only(all, ({ text }) => /^RUN/i.test(text) && text.endsWith(wanted))
}

/** Returns the first instruction that uses an image as its base, or copies from the image. */
function usesImage(all: readonly Instruction[], image: string): Instruction | undefined {
  const isBase = (text: string) => /^FROM/i.test(text) && text.includes(image)
  return all.find(({ text }) => isBase(text) || text.includes(`--from=${image}`) || text.includes(`from=${image}`))
}

/**
 * Returns the instruction of a step. Steps are named with the values of variables; a stage without a name is called
 * `stage-N`.
 */
function ofStep(all: readonly Instruction[], group: string | undefined, step: string): Instruction | undefined {
  const found = all.filter(({ text }) => sameStep(text, step))
  const stage = group === undefined || /^stage-\d+$/.test(group) ? '' : group
  return only(found, () => true) ?? only(found, one => one.stage.toLowerCase() === stage.toLowerCase())
}

/**
 * Returns true if a step is the instruction with any values of its variables. Takes linear time, because the text of an
 * instruction comes from the user.
 */
function sameStep(instruction: string, step: string): boolean {
  const [first = '', ...parts] = instruction.toLowerCase().split(/\$\{[^}]*\}|\$\w+/)
  const last = parts.pop()
  const text = step.toLowerCase()
  if (last === undefined) return text === first
  if (!text.startsWith(first)) return false
  let end = first.length
  for (const part of parts) {
    const start = text.indexOf(part, end)
    if (start === -1) return false
    end = start + part.length
  }
  return text.length - last.length >= end && text.endsWith(last)
}

function only(all: readonly Instruction[], is: (one: Instruction) => boolean): Instruction | undefined {
  const found = all.filter(is)
  return found.length === 1 ? found[0] : undefined
}
