import { createInterface, type Interface } from 'node:readline'
import { Writable } from 'node:stream'
import { printable } from '../../compiler/values/printable.ts'
import type { PromptAnswer } from './io.ts'

interface Terminal {
  readonly input: NodeJS.ReadableStream
  readonly output: NodeJS.WritableStream
}

/** Settings for the end of a question without an answer. */
interface QuestionEnd {
  readonly signal?: AbortSignal
  /** True if the question is taken off the terminal at its end. */
  readonly isErased?: boolean
  /** Called when the person leaves it with Ctrl-C. */
  readonly onLeave?: () => void
}

/**
 * A list to choose from with the arrow keys. Gives undefined when the person leaves it with Ctrl-C, and when the signal
 * is aborted.
 */
export async function chooseOne(
  terminal: Terminal,
  question: string,
  answers: readonly PromptAnswer[],
  { signal, isErased = false, onLeave = () => {} }: QuestionEnd = {},
): Promise<string | undefined> {
  if (signal?.aborted) return undefined
  const { default: select } = await import('@inquirer/select')
  const choices = answers.map(({ value, label = value, disabled = false }) => ({
    value,
    name: printable(label),
    disabled: disabled && `(${disabled})`,
  }))
  const preset = answers.find(({ isPreset }) => isPreset)?.value
  try {
    return await select(
      { message: question, choices, pageSize: 12, ...(preset && { default: preset }) },
      { ...terminal, ...(signal && { signal }), clearPromptOnDone: isErased },
    )
  } catch (error) {
    if (!(error instanceof Error) || !LEFT.has(error.name)) throw error
    if (error.name === EXIT) onLeave()
    return undefined
  }
}

const EXIT = 'ExitPromptError'
/** The names of the errors of a question that has no answer. */
const LEFT = new Set([EXIT, 'AbortPromptError'])

/** A line that is typed without being shown. Gives undefined when the person leaves it with Ctrl-C or Ctrl-D. */
export async function typeHidden({ input, output }: Terminal, question: string): Promise<string | undefined> {
  output.write(`${printable(question)} (not shown): `)
  // The input is echoed to nowhere; as a terminal, it is still read key by key.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const line = await firstLine(createInterface({ input, output: nowhere, terminal: true, historySize: 0 }))
  output.write('\n')
  return line
}

/** A line that is typed. Gives undefined when the person leaves it with Ctrl-C or Ctrl-D. */
export async function typeLine({ input, output }: Terminal, question: string): Promise<string | undefined> {
  const lines = createInterface({ input, output, terminal: true, historySize: 0, prompt: `${printable(question)}: ` })
  lines.prompt()
  const line = await firstLine(lines)
  if (line === undefined) output.write('\n')
  return line
}

async function firstLine(lines: Interface): Promise<string | undefined> {
  const line = await new Promise<string | undefined>(resolve => {
    lines.once('line', resolve)
    lines.once('SIGINT', () => resolve(undefined))
    lines.once('close', () => resolve(undefined))
  })
  lines.close()
  return line
}
