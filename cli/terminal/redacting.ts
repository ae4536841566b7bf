import { printableText } from '../../compiler/values/printable.ts'
import { KnownSecrets } from '../../compiler/values/secrets/known-secrets.ts'
import type { Io, Output } from './io.ts'

/**
 * The Io of a command: all that is written goes through one redactor, which knows the secret values (ARCHITECTURE.md,
 * "Secrets"), and no character gets through that a terminal would obey. The variables of the process whose names say
 * that they are secret are known from the start; what else a command finds it enters in `secrets`.
 */
export function redacting(io: Io, onPlatform?: Io['onPlatform']): Io & { readonly secrets: KnownSecrets } {
  const secrets = new KnownSecrets()
  secrets.addVariables(io.env)
  const { stdout, stderr, readStdin, rawStreams, startAgain, env, choose, ask, askHidden } = io
  return {
    ...(choose && { choose }),
    ...(ask && { ask }),
    ...(askHidden && { askHidden }),
    ...(rawStreams && { rawStreams }),
    ...(startAgain && { startAgain }),
    ...(onPlatform && { onPlatform }),
    stdout: redacted(stdout, secrets),
    stderr: redacted(stderr, secrets),
    readStdin,
    env,
    get cwd() {
      return io.cwd
    },
    secrets,
  }
}

function redacted(output: Output, secrets: KnownSecrets): Output {
  return {
    write: text => output.write(secrets.mask(printableText(text))),
    writeAsIs: output.write,
    ...(output.flushed && { flushed: output.flushed }),
    get isTTY() {
      return output.isTTY
    },
    get columns() {
      return output.columns
    },
    get rows() {
      return output.rows
    },
  } as Output // an absent width is undefined
}

/** Writes what is exempt from redaction (io.ts). */
export function writeAsIs(output: Output, text: string): void {
  ;(output.writeAsIs ?? output.write)(text)
}
