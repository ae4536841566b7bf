// @ts-check
// Publishes the application of a folder to a git repository, and draws its own progress:
//   node examples/program/publish.mjs FOLDER ENVIRONMENT [REPOSITORY]
import { openProject, publish, UserError, workspaceOf } from 'devctl/operations'

const [folder, environment, repository] = process.argv.slice(2)
const workspace = workspaceOf({ cwd: folder })
const input = { environment, repository }

/** @type {(event: import('devctl/operations').OperationEvent) => void} */
const on = event => {
  if (event.type === 'compiled') console.log(`✓ ${event.objects} objects`)
  if (event.type === 'fetched') console.log(`↓ ${event.branch} ${event.head ?? '(empty)'}`)
  if (event.type === 'push-failed') console.log(`↻ ${event.because}`)
  if (event.type === 'pushed') console.log(`↑ ${event.branch} ${event.commit}`)
  if (event.type === 'warning') console.log(`! ${event.text}`)
  if (event.type === 'diagnostics')
    for (const { code, message } of event.diagnostics) console.log(`! ${code}: ${message}`)
}

try {
  const world = { workspace, signal: AbortSignal.timeout(120_000), on }
  const outcome = await publish(world, input, await openProject(workspace, input))
  console.log(outcome.kind)
  if (outcome.kind === 'pushed') console.log(`  ${outcome.subject}`)
  process.exitCode = outcome.kind === 'refused' ? 1 : 0
} catch (error) {
  if (!(error instanceof UserError)) throw error
  console.log(`! ${error.message}`)
  process.exitCode = 1
}
