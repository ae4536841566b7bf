import { printable } from '../compiler/values/printable.ts'
import type { Answer } from './io.ts'

interface Terminal {
  readonly input: NodeJS.ReadableStream
  readonly output: NodeJS.WritableStream
}

/** A list to choose from with the arrow keys. Gives undefined when the person leaves it with Ctrl-C. */
export async function chooseOne(
  terminal: Terminal,
  question: string,
  answers: readonly Answer[],
): Promise<string | undefined> {
  const { default: select } = await import('@inquirer/select')
  const choices = answers.map(({ value, label = value, disabled = false }) => ({
    value,
    name: printable(label),
    disabled: disabled && `(${disabled})`,
  }))
  const preset = answers.find(({ isPreset }) => isPreset)?.value
  try {
    return await select({ message: question, choices, pageSize: 12, ...(preset && { default: preset }) }, terminal)
  } catch (error) {
    if (error instanceof Error && error.name === 'ExitPromptError') return undefined
    throw error
  }
}
