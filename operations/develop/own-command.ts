import type { ImageConfig } from '../../compiler/values/image-config.ts'

/** The command of a container as Kubernetes has it: literal but for `$(NAME)`. */
export interface ContainerCommand {
  readonly command?: readonly string[] | undefined
  readonly args?: readonly string[] | undefined
}

/**
 * What a container runs, with what its image says where its own fields are absent
 * (https://kubernetes.io/docs/tasks/inject-data-application/define-command-argument-container/).
 * Undefined if that depends on an image whose configuration is not known, or if there is none.
 */
export function ownCommand(
  { command, args }: ContainerCommand,
  image: Pick<ImageConfig, 'Entrypoint' | 'Cmd'> | undefined,
): readonly string[] | undefined {
  const isWritten = command !== undefined && command.length > 0
  if (!isWritten && !image) return undefined
  const program = isWritten ? command : (image?.Entrypoint ?? [])
  const hasArgs = args !== undefined && args.length > 0
  const rest = hasArgs ? args : isWritten ? [] : (image?.Cmd ?? [])
  const words = [...program, ...rest]
  return words.length > 0 ? words : undefined
}
