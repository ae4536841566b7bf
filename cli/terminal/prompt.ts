import { createInterface, type Interface } from 'node:readline'
import { Writable } from 'node:stream'
import { printable } from '../../compiler/values/printable.ts'
import type { PromptAnswer } from './io.ts'

interface Terminal {
  readonly input: NodeJS.ReadableStream
  readonly output: NodeJS.WritableStream
}

/** Options for a question that may end without an answer. */
interface QuestionEnd {
  readonly signal?: AbortSignal
  /** True to remove the question from the terminal when it ends. */
  readonly isErased?: boolean
  /** Called if the user cancels the question with Ctrl-C. */
  readonly onLeave?: () => void
}

/**
 * Asks the user to choose from a list with the arrow keys. Returns undefined if the user cancels with Ctrl-C, or if the
 * signal is aborted.
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
/** Names of the errors that mean that a question was canceled. */
const LEFT = new Set([EXIT, 'AbortPromptError'])

/** Options for a question that the user answers by typing. */
type TypingEnd = Pick<QuestionEnd, 'signal' | 'onLeave'>

/**
 * Asks the user to type a line that is not shown. Returns undefined if the user cancels with Ctrl-C or Ctrl-D, or if
 * the signal is aborted.
 */
export async function typeHidden(
  { input, output }: Terminal,
  question: string,
  end: TypingEnd = {},
): Promise<string | undefined> {
  output.write(`${printable(question)} (not shown): `)
  // The echo of the input is discarded; a terminal is still read key by key.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const line = await firstLine(createInterface({ input, output: nowhere, terminal: true, historySize: 0 }), end)
  output.write('\n')
  return line
}

/**
 * Asks the user to type a line. Returns undefined if the user cancels with Ctrl-C or Ctrl-D, or if the signal is
 * aborted.
 */
export async function typeLine(
  { input, output }: Terminal,
  question: string,
  end: TypingEnd = {},
): Promise<string | undefined> {
  const lines = createInterface({ input, output, terminal: true, historySize: 0, prompt: `${printable(question)}: ` })
  lines.prompt()
  const line = await firstLine(lines, end)
  if (line === undefined) output.write('\n')
  return line
}

async function firstLine(lines: Interface, { signal, onLeave }: TypingEnd): Promise<string | undefined> {
  const line = await new Promise<string | undefined>(resolve => {
    lines.once('line', resolve)
    lines.once('SIGINT', () => {
      onLeave?.()
      resolve(undefined)
    })
    lines.once('close', () => resolve(undefined))
    signal?.addEventListener('abort', () => resolve(undefined), { once: true })
    if (signal?.aborted) resolve(undefined)
  })
  lines.close()
  return line
}
