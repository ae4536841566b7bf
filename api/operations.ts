/**
 * The public API `devctl/operations`: devctl as a library for other programs. No function prints anything or exits the
 * process.
 */
export { ClusterError } from '../adapters/kubernetes/cluster.ts'
export { build } from '../builds/build.ts'
export type { BuildOutcome } from '../builds/build-outcome.ts'
export type { BuildEvent } from '../builds/events.ts'
export type { ImagesInput } from '../builds/input.ts'
export type { Diagnostic } from '../compiler/diagnostics/diagnostic.ts'
export { renderDiagnostics } from '../compiler/diagnostics/render/text.ts'
export { ProgramError, UsageError, UserError } from '../compiler/diagnostics/user-error.ts'
export { KnownSecrets } from '../compiler/values/secrets/known-secrets.ts'
export { type CopyInput, type CopyReport, copy } from '../containers/copy/copy.ts'
export { type ExecServiceInput, execService } from '../containers/exec/exec-service.ts'
export { type RunOnceInput, type RunOutcome, run } from '../containers/run/run.ts'
export type { RunContext } from '../containers/run/run-context.ts'
export type { UpQuestions as Questions } from '../develop/context.ts'
export type { EmptiedFolder, SessionReport } from '../develop/control/messages.ts'
export {
  type DoctorContext as DoctorWorld,
  type DoctorInput,
  type DoctorOutcome,
  type DoctorPart,
  doctor,
} from '../develop/doctor/doctor.ts'
export { type DownInput, type DownOutcome, down } from '../develop/down.ts'
export type { DevelopEvent, SessionEnd } from '../develop/events.ts'
export { outputTerminal } from '../develop/exec/output-terminal.ts'
export type { RemoteTerminal } from '../develop/exec/remote-terminal.ts'
export { type ExecInput, exec } from '../develop/exec.ts'
export { type RestartedDevelopment, restartDevelopment } from '../develop/restart.ts'
export type { DevelopmentInput, SeveralInput } from '../develop/select/find-development.ts'
export {
  type AnswerEmptiedInput,
  answerEmptied,
  type StatusInput,
  status,
} from '../develop/status.ts'
export { up } from '../develop/up.ts'
export type { UpContext as UpWorld, UpInput, UpOutcome } from '../develop/up-input.ts'
export {
  type SeveralContext as SeveralWorld,
  type UpSeveralInput,
  type UpSeveralOutcome,
  upSeveral,
} from '../develop/up-several.ts'
export { type ExplainTarget, parseTarget } from '../explain/target.ts'
export { type InitOutcome, initGitops } from '../gitops/init/init.ts'
export type { InitInput } from '../gitops/init/input.ts'
export type { DifferingFile } from '../gitops/publish/differing-files.ts'
export type { PublishEvent } from '../gitops/publish/events.ts'
export type { FolderCounts } from '../gitops/publish/folder-counts.ts'
export type { PublishInput } from '../gitops/publish/input.ts'
export type {
  PlannedChange,
  PublishOutcome,
  RegistryOutcome,
  RepositoryOutcome,
} from '../gitops/publish/outcome.ts'
export { type PromoteInput, promote } from '../gitops/publish/promote.ts'
export { publish } from '../gitops/publish/publish.ts'
export type { OpenedRequest } from '../gitops/publish/target/request.ts'
export { type ConflictingFile, OverwriteRefusal } from '../gitops/repository/tree/overwrite-refusal.ts'
export {
  type InitProjectInput,
  type InitProjectOutcome,
  type InitQuestions,
  initProject,
} from '../init/init.ts'
export {
  type MigratedFile,
  type MigrateInput,
  type MigrateOutcome,
  migrate,
} from '../init/migrate/migrate.ts'
export { deploy } from '../operations/deploy/deploy.ts'
export type { DeployInput, ForCluster } from '../operations/deploy/input.ts'
export type { DeployOutcome, ServiceState } from '../operations/deploy/outcome.ts'
export { destroy } from '../operations/destroy/destroy.ts'
export type { DestroyInput } from '../operations/destroy/input.ts'
export type { DestroyOutcome } from '../operations/destroy/outcome.ts'
export { diffAgainst } from '../operations/diff/against.ts'
export { type DiffOutcome, diff } from '../operations/diff/diff.ts'
export { type ClusterEvent, type EventsInput, events } from '../operations/events/events.ts'
export { type ExplainInput, type ExplainOutcome, explain } from '../operations/explain/explain.ts'
export { type ForwardedPort, type ForwardInput, forward } from '../operations/forward/forward.ts'
export {
  type ApplicationGraph,
  type GraphEdge,
  type GraphInput,
  type GraphOutcome,
  type GraphPart,
  graph,
} from '../operations/graph/graph.ts'
export {
  type EndpointsInput,
  type EndpointsOutcome,
  endpoints,
  type NoEndpoints,
} from '../operations/list/endpoints.ts'
export { type HistoryInput, type HistoryOutcome, history } from '../operations/list/history.ts'
export { type DeployedImage, deployedImages, type ImagesOfServicesInput } from '../operations/list/images.ts'
export { type JobsInput, type JobsOutcome, jobs } from '../operations/list/jobs.ts'
export { type ServiceRow, type ServicesInput, type ServicesOutcome, services } from '../operations/list/services.ts'
export { type Amounts, type ContainerUsage, resourceUsage, type UsageInput } from '../operations/list/usage.ts'
export type { LogEvent } from '../operations/logs/events.ts'
export { type LogsContext as LogsWorld, type LogsInput, type LogsOutcome, logs } from '../operations/logs/logs.ts'
export type { RenderInput } from '../operations/render/input.ts'
export { type RenderOutcome, render } from '../operations/render/render.ts'
export { type RestartInput, type RestartOutcome, restart } from '../operations/restart/restart.ts'
export { type ScaleInput, type ScaleOutcome, scale } from '../operations/scale/scale.ts'
export { type StopInput, type StopOutcome, start, stop } from '../operations/scale/stop.ts'
export { type ValidateInput, type ValidateOutcome, validate } from '../operations/validate/validate.ts'
export { type WaitInput, type WaitOutcome, wait } from '../operations/wait/wait.ts'
export type { LoadInput as Loading, PlanInput as Planning } from '../project/input.ts'
export { openProject, targetOf } from '../project/open-project.ts'
export type { OpenProject } from '../project/opened-project.ts'
export type { Session } from '../project/session.ts'
export { type Workspace, workspaceOf } from '../project/workspace.ts'
export type { OperationEvent } from './events.ts'
export { openSession, type SessionInput } from './open-session.ts'
export type { LocalWorld, World } from './world.ts'
