/**
 * The public API `devctl/operations`: devctl for programs. Nothing is printed, and no function ends
 * the process.
 */
export { ClusterError } from '../adapters/kubernetes/cluster.ts'
export type { Diagnostic } from '../compiler/diagnostics/diagnostic.ts'
export { renderDiagnostics } from '../compiler/diagnostics/render/text.ts'
export { UsageError, UserError } from '../compiler/diagnostics/user-error.ts'
export { KnownSecrets } from '../compiler/values/known-secrets.ts'
export { build } from './build/build.ts'
export type { BuildOutcome } from './build/build-outcome.ts'
export type { BuildEvent } from './build/events.ts'
export type { ImagesInput } from './build/input.ts'
export { deploy } from './deploy/deploy.ts'
export type { DeployInput, ForCluster } from './deploy/input.ts'
export type { DeployOutcome, ServiceState } from './deploy/outcome.ts'
export { destroy } from './destroy/destroy.ts'
export type { DestroyInput } from './destroy/input.ts'
export type { DestroyOutcome } from './destroy/outcome.ts'
export type { EmptiedFolder, SessionReport } from './develop/control/messages.ts'
export {
  type DoctorInput,
  type DoctorOutcome,
  type DoctorPart,
  type DoctorWorld,
  doctor,
} from './develop/doctor/doctor.ts'
export { type DownInput, type DownOutcome, down } from './develop/down.ts'
export type { DevelopEvent, SessionEnd } from './develop/events.ts'
export { type ExecInput, exec } from './develop/exec.ts'
export type { DevelopmentInput, SeveralInput } from './develop/find-development.ts'
export { outputTerminal } from './develop/output-terminal.ts'
export type { RemoteTerminal } from './develop/remote-terminal.ts'
export { type RestartedDevelopment, restartDevelopment } from './develop/restart.ts'
export {
  type AnswerEmptiedInput,
  answerEmptied,
  type StatusInput,
  status,
} from './develop/status.ts'
export { up } from './develop/up.ts'
export type { UpInput, UpOutcome, UpWorld } from './develop/up-input.ts'
export { type SeveralWorld, type UpSeveralInput, type UpSeveralOutcome, upSeveral } from './develop/up-several.ts'
export { diffAgainst } from './diff/against.ts'
export { type DiffOutcome, diff } from './diff/diff.ts'
export type { OperationEvent } from './events.ts'
export { type ForwardedPort, type ForwardInput, forward } from './forward/forward.ts'
export { type ConflictingFile, OverwriteRefusal } from './gitops/tree/overwrite-refusal.ts'
export { type InitOutcome, initGitops } from './gitops-init/init.ts'
export type { InitInput } from './gitops-init/input.ts'
export {
  type InitProjectInput,
  type InitProjectOutcome,
  type InitQuestions,
  initProject,
} from './init/init.ts'
export { type EndpointsInput, type EndpointsOutcome, endpoints, type NoEndpoints } from './list/endpoints.ts'
export { type HistoryInput, type HistoryOutcome, history } from './list/history.ts'
export { type ServiceRow, type ServicesInput, type ServicesOutcome, services } from './list/services.ts'
export type { LogEvent } from './logs/events.ts'
export { type LogsInput, type LogsOutcome, type LogsWorld, logs } from './logs/logs.ts'
export { openSession, type SessionInput } from './open-session.ts'
export type { Loading, Planning } from './project/input.ts'
export { openProject, targetOf } from './project/open-project.ts'
export type { OpenProject } from './project/opened-project.ts'
export type { DifferingFile } from './publish/differing-files.ts'
export type { PublishEvent } from './publish/events.ts'
export type { FolderCounts } from './publish/folder-counts.ts'
export type { PublishInput } from './publish/input.ts'
export type { PlannedChange, PublishOutcome, RegistryOutcome, RepositoryOutcome } from './publish/outcome.ts'
export { type PromoteInput, promote } from './publish/promote.ts'
export { publish } from './publish/publish.ts'
export type { OpenedRequest } from './publish/request.ts'
export type { Questions } from './questions.ts'
export type { RenderInput } from './render/input.ts'
export { type RenderOutcome, render } from './render/render.ts'
export { type RestartInput, type RestartOutcome, restart } from './restart/restart.ts'
export type { LocalWorld, Session, World } from './session.ts'
export { type ValidateInput, type ValidateOutcome, validate } from './validate/validate.ts'
export { type Workspace, workspaceOf } from './workspace.ts'
