// @ts-check
// Runs a command in a development container, with the files of a folder beside the services of the
// cluster, restores the original, and ends with the status of the command:
//   node examples/program/develop.mjs FOLDER NAMESPACE NAME COMMAND...
import { openProject, openSession, outputTerminal, targetOf, UserError, up, workspaceOf } from 'devctl/operations'

const [folder, namespace, dev, ...command] = process.argv.slice(2)
const workspace = workspaceOf({ cwd: folder })
const project = await openProject(workspace, {})
const target = targetOf(project, { context: undefined, namespace })
const session = await openSession(workspace, target, { signal: AbortSignal.timeout(300_000) })

/** @type {(event: import('devctl/operations').OperationEvent) => void} */
const on = event => {
  if (event.type === 'taken') console.log(`taken: ${event.text}`)
  if (event.type === 'status' && event.state === 'ready') console.log('in sync')
}
const terminal = outputTerminal((stream, text) => console.log(`${stream}: ${text}`))

try {
  const outcome = await up({ workspace, session, on, terminal }, { dev, command, downOnExit: true }, project)
  console.log(outcome.kind)
  process.exitCode = outcome.kind === 'ended' ? outcome.status : 1
} catch (error) {
  if (!(error instanceof UserError)) throw error
  console.log(`! ${error.message}`)
  process.exitCode = 1
}
