import { isArgumentReference } from '../../compiler/values/dockerfile/argument-variables.ts'
import type { ImageConfig } from '../../compiler/values/images/image-config.ts'

/** The command of a container as Kubernetes has it: literal but for `$(NAME)`. */
export interface ContainerCommand {
  readonly command?: readonly string[] | undefined
  readonly args?: readonly string[] | undefined
}

/**
 * The words that a container runs, with what its image says where its own fields are absent
 * (https://kubernetes.io/docs/tasks/inject-data-application/define-command-argument-container/).
 * Undefined if that depends on an image whose configuration is not known, or on a variable that only
 * Kubernetes puts in, or if there is none.
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
 * Words of a container as a plan has them, without the escapes of Kubernetes; undefined if one has a variable of the
 * user.
 */
function literalWords(words: readonly string[]): readonly string[] | undefined {
  const hasVariable = words.some(word => !isArgumentReference(word) && word.replaceAll('$$', '').includes('$('))
  return hasVariable ? undefined : words.map(word => word.replaceAll('$$', '$'))
}

/** True for a shell that waits for the user to type: `bash`, `/bin/sh -l`. */
export const isShell = ([program = '', ...words]: readonly string[] = []): boolean =>
  /^(.*\/)?(sh|ash|bash|dash|fish|ksh|zsh)$/.test(program) && words.every(word => /^-[il]+$|^--login$/.test(word))
