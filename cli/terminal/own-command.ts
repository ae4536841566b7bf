import { isSea } from 'node:sea'

/** A command that starts devctl, with the arguments that come before the arguments of devctl. */
export interface OwnCommand {
  readonly command: string
  readonly args: readonly string[]
}

/**
 * Returns the command that starts this program again; undefined if this process runs no script, because another program
 * has loaded devctl.
 */
export function ownCommand(): OwnCommand | undefined {
  const { execPath, argv } = process
  if (isSea()) return { command: execPath, args: [] }
  const [, script] = argv
  // Node reads no options of its own after `--`: it also has an `--env-file`.
  return script === undefined ? undefined : { command: execPath, args: ['--', script] }
}
