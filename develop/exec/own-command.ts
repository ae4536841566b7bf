import { isArgumentReference } from '../../compiler/values/dockerfile/argument-variables.ts'
import type { ImageConfig } from '../../compiler/values/images/image-config.ts'

/** Command of a container in Kubernetes syntax: literal except for `$(NAME)`. */
export interface ContainerCommand {
  readonly command?: readonly string[] | undefined
  readonly args?: readonly string[] | undefined
}

/**
 * Returns the command line of a container. The image's settings apply to fields that the container does not set
 * (https://kubernetes.io/docs/tasks/inject-data-application/define-command-argument-container/). Returns undefined if
 * there is no command line, or if the command line depends on an image whose configuration is unknown or on a variable
 * that only Kubernetes can expand.
 */
export function ownCommand(
  { command, args }: ContainerCommand,
  image: Pick<ImageConfig, 'Entrypoint' | 'Cmd'> | undefined,
): readonly string[] | undefined {
  const isWritten = command !== undefined && command.length > 0
  if (!isWritten && !image) return undefined
  const program = isWritten ? literalWords(command) : (image?.Entrypoint ?? [])
  const hasArgs = args !== undefined && args.length > 0
  const rest = hasArgs ? literalWords(args) : isWritten ? [] : (image?.Cmd ?? [])
  if (!program || !rest) return undefined
  const words = [...program, ...rest]
  return words.length > 0 ? words : undefined
}

/**
 * Returns the arguments of a container in a plan without Kubernetes' escapes. Returns undefined if an argument contains
 * a variable reference that devctl has not generated itself.
 */
function literalWords(words: readonly string[]): readonly string[] | undefined {
  const hasVariable = words.some(word => !isArgumentReference(word) && word.replaceAll('$$', '').includes('$('))
  return hasVariable ? undefined : words.map(word => word.replaceAll('$$', '$'))
}

/** True for an interactive shell: `bash`, `/bin/sh -l`. */
export const isShell = ([program = '', ...words]: readonly string[] = []): boolean =>
  /^(.*\/)?(sh|ash|bash|dash|fish|ksh|zsh)$/.test(program) && words.every(word => /^-[il]+$|^--login$/.test(word))
