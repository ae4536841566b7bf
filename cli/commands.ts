import type { Command } from './command.ts'
import { build } from './commands/build.ts'
import { completion } from './commands/completion.ts'
import { config } from './commands/config.ts'
import { context, contextDelete, contextList, contextShow, contextUse } from './commands/context.ts'
import { cp } from './commands/cp.ts'
import { deploy } from './commands/deploy.ts'
import { destroy } from './commands/destroy.ts'
import { diff } from './commands/diff.ts'
import { doctor } from './commands/doctor.ts'
import { down } from './commands/down.ts'
import { endpoints } from './commands/endpoints.ts'
import { events } from './commands/events.ts'
import { exec } from './commands/exec.ts'
import { explain } from './commands/explain.ts'
import { forward } from './commands/forward.ts'
import { gitops, gitopsInit, gitopsSecrets } from './commands/gitops.ts'
import { graph } from './commands/graph.ts'
import { help } from './commands/help.ts'
import { history } from './commands/history.ts'
import { images } from './commands/images.ts'
import { init } from './commands/init.ts'
import { jobs } from './commands/jobs.ts'
import { kubeconfig } from './commands/kubeconfig.ts'
import { logs } from './commands/logs.ts'
import { lsp } from './commands/lsp.ts'
import { migrate } from './commands/migrate.ts'
import { analytics } from './commands/platform/analytics.ts'
import { credentials, credentialsList, credentialsSet, credentialsUnset } from './commands/platform/credentials.ts'
import {
  namespace,
  namespaceCreate,
  namespaceDelete,
  namespaceList,
  namespaceShare,
  namespaceSleep,
  namespaceUnshare,
  namespaceUse,
  namespaceWake,
} from './commands/platform/namespace.ts'
import { pipeline, pipelineDeploy, pipelineDestroy, pipelineList, pipelineLogs } from './commands/platform/pipeline.ts'
import {
  platform,
  platformAdmin,
  platformImages,
  platformInstall,
  platformInvite,
  platformStatus,
  platformUninstall,
} from './commands/platform/platform.ts'
import {
  preview,
  previewApprove,
  previewDeploy,
  previewDestroy,
  previewEndpoints,
  previewHook,
  previewList,
} from './commands/platform/preview.ts'
import { variables, variablesList, variablesSet, variablesUnset } from './commands/platform/variables.ts'
import { promote } from './commands/promote.ts'
import { ps } from './commands/ps.ts'
import { publish } from './commands/publish.ts'
import { render } from './commands/render.ts'
import { restart } from './commands/restart.ts'
import { run } from './commands/run.ts'
import { scale } from './commands/scale.ts'
import { schema } from './commands/schema.ts'
import { status } from './commands/status.ts'
import { start, stop } from './commands/stop.ts'
import { top } from './commands/top.ts'
import { up } from './commands/up.ts'
import { validate } from './commands/validate.ts'
import { versionCommand } from './commands/version.ts'
import { wait } from './commands/wait.ts'

/** Every command, in the order in which help lists them. */
export const commands: readonly Command[] = [
  deploy,
  build,
  diff,
  restart,
  scale,
  stop,
  start,
  wait,
  destroy,
  ps,
  endpoints,
  history,
  logs,
  run,
  jobs,
  events,
  images,
  top,
  forward,
  cp,
  up,
  exec,
  status,
  down,
  doctor,
  context,
  contextUse,
  contextShow,
  contextList,
  contextDelete,
  namespace,
  namespaceUse,
  namespaceCreate,
  namespaceDelete,
  namespaceList,
  namespaceShare,
  namespaceUnshare,
  namespaceSleep,
  namespaceWake,
  pipeline,
  pipelineDeploy,
  pipelineDestroy,
  pipelineList,
  pipelineLogs,
  preview,
  previewDeploy,
  previewDestroy,
  previewList,
  previewEndpoints,
  previewHook,
  previewApprove,
  variables,
  variablesList,
  variablesSet,
  variablesUnset,
  credentials,
  credentialsList,
  credentialsSet,
  credentialsUnset,
  platform,
  platformInstall,
  platformStatus,
  platformInvite,
  platformAdmin,
  platformImages,
  platformUninstall,
  kubeconfig,
  init,
  migrate,
  publish,
  promote,
  gitops,
  gitopsInit,
  gitopsSecrets,
  render,
  validate,
  config,
  explain,
  graph,
  analytics,
  schema,
  lsp,
  completion,
  versionCommand,
  help,
]
