import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { serveEditor } from '../../editor/server/serve.ts'
import { packageFolder, version } from '../../project/version.ts'
import type { Context } from '../command.ts'
import { errorText } from '../terminal/error-text.ts'

/**
 * Serves an editor over the standard streams. The exit status is 1 if the editor ends the connection without a shutdown
 * request.
 */
export async function runLanguageServer({ io }: Pick<Context, 'io'>): Promise<number> {
  const streams = io.rawStreams?.()
  if (!streams || streams.stdin.isTTY)
    throw new UsageError('`devctl lsp` is started by an editor, which writes to its standard input', {
      hint: 'docs/editors.md has the settings of editors',
    })
  const { stdin, stdout } = streams
  const pages = pagesOfCodes()
  const isShutDown = await serveEditor({
    input: stdin,
    output: stdout,
    workspace: { cwd: '/', env: io.env, readStdin: async () => new Uint8Array() },
    version: version(),
    ...(pages !== undefined && { pages }),
    onError: error => io.stderr.write(errorText(error)),
  })
  stdin.destroy()
  return isShutDown ? 0 : 1
}

/**
 * Returns the folder in the package that contains the pages of all diagnostic codes; undefined if devctl has no such
 * folder, for example as a single executable.
 */
function pagesOfCodes(): string | undefined {
  const folder = packageFolder()
  const path = folder && join(folder, 'docs/diagnostics')
  return path && existsSync(path) ? path : undefined
}
