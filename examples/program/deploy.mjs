// @ts-check
// Deploys the application of a folder and draws its own progress:
//   node examples/program/deploy.mjs FOLDER NAMESPACE
import { deploy, openProject, openSession, targetOf, UserError, workspaceOf } from 'devctl/operations'

const [folder, namespace] = process.argv.slice(2)
const workspace = workspaceOf({ cwd: folder })
const project = await openProject(workspace, {})
const target = targetOf(project, { context: undefined, namespace })
const session = await openSession(workspace, target, { signal: AbortSignal.timeout(120_000) })

const SIGNS = { waiting: '…', ready: '✓', complete: '✓', failed: '✗' }

/** @type {(event: import('devctl/operations').OperationEvent) => void} */
const on = event => {
  if (event.type === 'status') console.log(`${SIGNS[event.state]} ${event.service}`)
  if (event.type === 'diagnostics')
    for (const { code, message } of event.diagnostics) console.log(`! ${code}: ${message}`)
}

try {
  const outcome = await deploy({ workspace, session, on }, { wait: true, createNamespace: true }, project)
  console.log(outcome.kind)
  if (outcome.kind === 'deployed')
    for (const [service, state] of outcome.services) console.log(`  ${service}: ${state}`)
  process.exitCode = outcome.kind === 'deployed' ? 0 : 1
} catch (error) {
  if (!(error instanceof UserError)) throw error
  console.log(`! ${error.message}`)
  process.exitCode = 1
}
