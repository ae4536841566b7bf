import { spawnSync } from 'node:child_process'

/** Runs a command and returns its standard output. If the command fails, throws an Error that contains the output. */
export function run(command, words, options = {}) {
  const { status, error, stdout, stderr } = spawnSync(command, words, {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    ...options,
  })
  if (status !== 0) throw new Error(`${command} ${words.join(' ')} failed: ${error?.message ?? stdout + stderr}`)
  return stdout
}
