import { printableText } from '../../compiler/values/printable.ts'
import { KnownSecrets } from '../../compiler/values/secrets/known-secrets.ts'
import type { Io, Output } from './io.ts'

/**
 * Returns the Io of a command: all output goes through one redactor, which removes known secret values
 * (compiler/DESIGN.md, "Secrets") and all terminal control characters. Variables of the process whose names indicate a
 * secret are known from the start; a command adds other secrets that it finds to `secrets`.
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
    ...(output.writeBytes && { writeBytes: output.writeBytes }),
    ...(output.flushed && { flushed: output.flushed }),
    ...(output.isForMessages && { isForMessages: true }),
    get isTTY() {
      return output.isTTY
    },
    get columns() {
      return output.columns
    },
    get rows() {
      return output.rows
    },
  }
}

/** Writes output that is exempt from redaction (io.ts). */
export function writeAsIs(output: Output, text: string): void {
  ;(output.writeAsIs ?? output.write)(text)
}

/** Writes a part of the output of a program in a container unchanged, and resolves once the stream has taken it. */
export async function writeBytes(output: Output, part: Uint8Array): Promise<void> {
  if (output.writeBytes) await output.writeBytes(part)
  else writeAsIs(output, new TextDecoder().decode(part))
}
