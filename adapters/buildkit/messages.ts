/**
 * The messages and RPCs that devctl exchanges with BuildKit, with the field numbers of BuildKit's published protocol
 * definitions. Fields that devctl neither sets nor reads are omitted here, and skipped when decoding.
 * https://github.com/moby/buildkit/blob/master/api/services/control/control.proto
 */

/** Number and type of a field. `isList` marks a repeated field, `isMap` a map from string to string. */
export interface WireField {
  readonly id: number
  readonly type: WireScalar | (string & {})
  readonly isList?: true
  readonly isMap?: true
}

/** The protobuf scalar types in use; any other type is the name of a message. */
export type WireScalar = 'int32' | 'int64' | 'uint32' | 'bool' | 'string' | 'bytes'

export type WireMessage = Readonly<Record<string, WireField>>

/**
 * An RPC: the names of its request and response messages. `requestStream` is true if the request is a stream of
 * messages, `responseStream` if the response is one.
 */
export interface WireCall {
  readonly request: string
  readonly response: string
  readonly requestStream: boolean
  readonly responseStream: boolean
}

/** The fields of each message, by the full name of the message. */
export const MESSAGES: Readonly<Record<string, WireMessage>> = {
  'google.protobuf.Timestamp': { seconds: field('int64', 1), nanos: field('int32', 2) },
  'google.protobuf.Any': { type_url: field('string', 1), value: field('bytes', 2) },
  'google.rpc.Status': {
    code: field('int32', 1),
    message: field('string', 2),
    details: list('google.protobuf.Any', 3),
  },
  'grpc.health.v1.HealthCheckRequest': { service: field('string', 1) },
  'grpc.health.v1.HealthCheckResponse': { status: field('int32', 1) },
  'pb.Position': { line: field('int32', 1), character: field('int32', 2) },
  'pb.Range': { start: field('pb.Position', 1), end: field('pb.Position', 2) },
  'pb.SourceInfo': { filename: field('string', 1), data: field('bytes', 2), language: field('string', 4) },
  'moby.buildkit.secrets.v1.GetSecretRequest': { ID: field('string', 1) },
  'moby.buildkit.secrets.v1.GetSecretResponse': { data: field('bytes', 1) },
  'moby.buildkit.v1.BytesMessage': { data: field('bytes', 1) },
  'moby.buildkit.v1.Exporter': { Type: field('string', 1), Attrs: map(2) },
  'moby.buildkit.v1.CacheOptionsEntry': { Type: field('string', 1), Attrs: map(2) },
  'moby.buildkit.v1.CacheOptions': {
    Exports: list('moby.buildkit.v1.CacheOptionsEntry', 4),
    Imports: list('moby.buildkit.v1.CacheOptionsEntry', 5),
  },
  // https://github.com/moby/buildkit/blob/master/sourcepolicy/pb/policy.proto
  'moby.buildkit.v1.sourcepolicy.Selector': { identifier: field('string', 1), match_type: field('int32', 2) },
  'moby.buildkit.v1.sourcepolicy.Rule': {
    action: field('int32', 1),
    selector: field('moby.buildkit.v1.sourcepolicy.Selector', 2),
  },
  'moby.buildkit.v1.sourcepolicy.Policy': {
    version: field('int64', 1),
    rules: list('moby.buildkit.v1.sourcepolicy.Rule', 2),
  },
  'moby.buildkit.v1.SolveRequest': {
    Ref: field('string', 1),
    Exporter: field('string', 3),
    ExporterAttrs: map(4),
    Session: field('string', 5),
    Frontend: field('string', 6),
    FrontendAttrs: map(7),
    Cache: field('moby.buildkit.v1.CacheOptions', 8),
    Entitlements: list('string', 9),
    SourcePolicy: field('moby.buildkit.v1.sourcepolicy.Policy', 12),
    Exporters: list('moby.buildkit.v1.Exporter', 13),
  },
  'moby.buildkit.v1.SolveResponse': { ExporterResponse: map(1) },
  'moby.buildkit.v1.StatusRequest': { Ref: field('string', 1) },
  'moby.buildkit.v1.Vertex': {
    digest: field('string', 1),
    inputs: list('string', 2),
    name: field('string', 3),
    cached: field('bool', 4),
    started: field('google.protobuf.Timestamp', 5),
    completed: field('google.protobuf.Timestamp', 6),
    error: field('string', 7),
  },
  'moby.buildkit.v1.VertexStatus': {
    ID: field('string', 1),
    vertex: field('string', 2),
    name: field('string', 3),
    current: field('int64', 4),
    total: field('int64', 5),
    started: field('google.protobuf.Timestamp', 7),
    completed: field('google.protobuf.Timestamp', 8),
  },
  'moby.buildkit.v1.VertexLog': {
    vertex: field('string', 1),
    timestamp: field('google.protobuf.Timestamp', 2),
    stream: field('int64', 3),
    msg: field('bytes', 4),
  },
  'moby.buildkit.v1.VertexWarning': {
    vertex: field('string', 1),
    level: field('int64', 2),
    short: field('bytes', 3),
    detail: list('bytes', 4),
    url: field('string', 5),
    info: field('pb.SourceInfo', 6),
    ranges: list('pb.Range', 7),
  },
  'moby.buildkit.v1.StatusResponse': {
    vertexes: list('moby.buildkit.v1.Vertex', 1),
    statuses: list('moby.buildkit.v1.VertexStatus', 2),
    logs: list('moby.buildkit.v1.VertexLog', 3),
    warnings: list('moby.buildkit.v1.VertexWarning', 4),
  },
  'moby.buildkit.v1.PruneRequest': { all: field('bool', 2) },
  'moby.buildkit.v1.InfoRequest': {},
  'moby.buildkit.v1.BuildkitVersion': { package: field('string', 1), version: field('string', 2) },
  'moby.buildkit.v1.InfoResponse': { buildkitVersion: field('moby.buildkit.v1.BuildkitVersion', 1) },
  'moby.filesync.v1.CredentialsRequest': { Host: field('string', 1) },
  'moby.filesync.v1.CredentialsResponse': { Username: field('string', 1), Secret: field('string', 2) },
  'moby.filesync.v1.BytesMessage': { data: field('bytes', 1) },
  'moby.sshforward.v1.BytesMessage': { data: field('bytes', 1) },
  'moby.sshforward.v1.CheckAgentRequest': { ID: field('string', 1) },
  'moby.sshforward.v1.CheckAgentResponse': {},
  'containerd.services.content.v1.Info': { digest: field('string', 1), size: field('int64', 2) },
  'containerd.services.content.v1.InfoRequest': { digest: field('string', 1) },
  'containerd.services.content.v1.InfoResponse': { info: field('containerd.services.content.v1.Info', 1) },
  'containerd.services.content.v1.ReadContentRequest': {
    digest: field('string', 1),
    offset: field('int64', 2),
    size: field('int64', 3),
  },
  'containerd.services.content.v1.ReadContentResponse': { offset: field('int64', 1), data: field('bytes', 2) },
  'containerd.services.content.v1.StatusRequest': { ref: field('string', 1) },
  'containerd.services.content.v1.StatusResponse': {},
  'containerd.services.content.v1.WriteContentRequest': {
    action: field('int32', 1),
    ref: field('string', 2),
    total: field('int64', 3),
    expected: field('string', 4),
    offset: field('int64', 5),
    data: field('bytes', 6),
  },
  'containerd.services.content.v1.WriteContentResponse': {
    action: field('int32', 1),
    offset: field('int64', 4),
    total: field('int64', 5),
    digest: field('string', 6),
  },
  'fsutil.types.Packet': {
    type: field('int32', 1),
    ID: field('uint32', 3),
    data: field('bytes', 4),
  },
}

/** The RPCs of each service, by the full name of the service. */
export const SERVICES: Readonly<Record<string, Readonly<Record<string, WireCall>>>> = {
  'moby.buildkit.v1.Control': {
    Solve: call('moby.buildkit.v1.SolveRequest', 'moby.buildkit.v1.SolveResponse'),
    Status: { ...call('moby.buildkit.v1.StatusRequest', 'moby.buildkit.v1.StatusResponse'), responseStream: true },
    Session: stream('moby.buildkit.v1.BytesMessage'),
    Info: call('moby.buildkit.v1.InfoRequest', 'moby.buildkit.v1.InfoResponse'),
  },
  'grpc.health.v1.Health': {
    Check: call('grpc.health.v1.HealthCheckRequest', 'grpc.health.v1.HealthCheckResponse'),
  },
  'moby.filesync.v1.Auth': {
    Credentials: call('moby.filesync.v1.CredentialsRequest', 'moby.filesync.v1.CredentialsResponse'),
  },
  'moby.filesync.v1.FileSync': { DiffCopy: stream('fsutil.types.Packet') },
  'moby.filesync.v1.FileSend': { DiffCopy: stream('moby.filesync.v1.BytesMessage') },
  'moby.buildkit.secrets.v1.Secrets': {
    GetSecret: call('moby.buildkit.secrets.v1.GetSecretRequest', 'moby.buildkit.secrets.v1.GetSecretResponse'),
  },
  'containerd.services.content.v1.Content': {
    Info: call('containerd.services.content.v1.InfoRequest', 'containerd.services.content.v1.InfoResponse'),
    Read: {
      ...call(
        'containerd.services.content.v1.ReadContentRequest',
        'containerd.services.content.v1.ReadContentResponse',
      ),
      responseStream: true,
    },
    Status: call('containerd.services.content.v1.StatusRequest', 'containerd.services.content.v1.StatusResponse'),
    Write: stream(
      'containerd.services.content.v1.WriteContentRequest',
      'containerd.services.content.v1.WriteContentResponse',
    ),
  },
  'moby.sshforward.v1.SSH': {
    CheckAgent: call('moby.sshforward.v1.CheckAgentRequest', 'moby.sshforward.v1.CheckAgentResponse'),
    ForwardAgent: stream('moby.sshforward.v1.BytesMessage'),
  },
}

function field(type: WireField['type'], id: number): WireField {
  return { id, type }
}

function list(type: WireField['type'], id: number): WireField {
  return { id, type, isList: true }
}

function map(id: number): WireField {
  return { id, type: 'string', isMap: true }
}

function call(request: string, response: string): WireCall {
  return { request, response, requestStream: false, responseStream: false }
}

function stream(request: string, response = request): WireCall {
  return { ...call(request, response), requestStream: true, responseStream: true }
}
