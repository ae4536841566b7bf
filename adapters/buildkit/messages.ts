import type { INamespace } from 'protobufjs'

/**
 * The messages that devctl exchanges with BuildKit, with the numbers of its published protocol definitions. Fields that
 * devctl neither sets nor reads are left out: protobuf skips what it does not know.
 * https://github.com/moby/buildkit/blob/master/api/services/control/control.proto
 */
export const MESSAGES: INamespace = {
  nested: {
    google: {
      nested: {
        protobuf: {
          nested: {
            Timestamp: { fields: { seconds: field('int64', 1), nanos: field('int32', 2) } },
            Any: { fields: { type_url: field('string', 1), value: field('bytes', 2) } },
          },
        },
        rpc: {
          nested: {
            Status: {
              fields: {
                code: field('int32', 1),
                message: field('string', 2),
                details: list('google.protobuf.Any', 3),
              },
            },
          },
        },
      },
    },
    grpc: {
      nested: {
        health: {
          nested: {
            v1: {
              nested: {
                HealthCheckRequest: { fields: { service: field('string', 1) } },
                HealthCheckResponse: { fields: { status: field('int32', 1) } },
                Health: {
                  methods: { Check: call('HealthCheckRequest', 'HealthCheckResponse') },
                },
              },
            },
          },
        },
      },
    },
    pb: {
      nested: {
        Platform: {
          fields: { Architecture: field('string', 1), OS: field('string', 2), Variant: field('string', 3) },
        },
        Position: { fields: { line: field('int32', 1), character: field('int32', 2) } },
        Range: { fields: { start: field('Position', 1), end: field('Position', 2) } },
        SourceInfo: { fields: { filename: field('string', 1), data: field('bytes', 2), language: field('string', 4) } },
      },
    },
    errdefs: {
      nested: {
        Source: { fields: { info: field('pb.SourceInfo', 1), ranges: list('pb.Range', 2) } },
        Vertex: { fields: { digest: field('string', 1) } },
      },
    },
    moby: {
      nested: {
        buildkit: {
          nested: {
            secrets: {
              nested: {
                v1: {
                  nested: {
                    GetSecretRequest: { fields: { ID: field('string', 1) } },
                    GetSecretResponse: { fields: { data: field('bytes', 1) } },
                    Secrets: {
                      methods: { GetSecret: call('GetSecretRequest', 'GetSecretResponse') },
                    },
                  },
                },
              },
            },
            v1: {
              nested: {
                BytesMessage: { fields: { data: field('bytes', 1) } },
                Exporter: { fields: { Type: field('string', 1), Attrs: map(2) } },
                CacheOptionsEntry: { fields: { Type: field('string', 1), Attrs: map(2) } },
                CacheOptions: {
                  fields: { Exports: list('CacheOptionsEntry', 4), Imports: list('CacheOptionsEntry', 5) },
                },
                SolveRequest: {
                  fields: {
                    Ref: field('string', 1),
                    Exporter: field('string', 3),
                    ExporterAttrs: map(4),
                    Session: field('string', 5),
                    Frontend: field('string', 6),
                    FrontendAttrs: map(7),
                    Cache: field('CacheOptions', 8),
                    Entitlements: list('string', 9),
                    Exporters: list('Exporter', 13),
                  },
                },
                SolveResponse: { fields: { ExporterResponse: map(1) } },
                StatusRequest: { fields: { Ref: field('string', 1) } },
                Vertex: {
                  fields: {
                    digest: field('string', 1),
                    inputs: list('string', 2),
                    name: field('string', 3),
                    cached: field('bool', 4),
                    started: field('google.protobuf.Timestamp', 5),
                    completed: field('google.protobuf.Timestamp', 6),
                    error: field('string', 7),
                  },
                },
                VertexStatus: {
                  fields: {
                    ID: field('string', 1),
                    vertex: field('string', 2),
                    name: field('string', 3),
                    current: field('int64', 4),
                    total: field('int64', 5),
                    started: field('google.protobuf.Timestamp', 7),
                    completed: field('google.protobuf.Timestamp', 8),
                  },
                },
                VertexLog: {
                  fields: {
                    vertex: field('string', 1),
                    timestamp: field('google.protobuf.Timestamp', 2),
                    stream: field('int64', 3),
                    msg: field('bytes', 4),
                  },
                },
                VertexWarning: {
                  fields: {
                    vertex: field('string', 1),
                    level: field('int64', 2),
                    short: field('bytes', 3),
                    detail: list('bytes', 4),
                    url: field('string', 5),
                    info: field('pb.SourceInfo', 6),
                    ranges: list('pb.Range', 7),
                  },
                },
                StatusResponse: {
                  fields: {
                    vertexes: list('Vertex', 1),
                    statuses: list('VertexStatus', 2),
                    logs: list('VertexLog', 3),
                    warnings: list('VertexWarning', 4),
                  },
                },
                InfoRequest: { fields: {} },
                BuildkitVersion: { fields: { package: field('string', 1), version: field('string', 2) } },
                InfoResponse: { fields: { buildkitVersion: field('BuildkitVersion', 1) } },
                ListWorkersRequest: { fields: {} },
                WorkerRecord: {
                  fields: { ID: field('string', 1), Labels: map(2), platforms: list('pb.Platform', 3) },
                },
                ListWorkersResponse: { fields: { record: list('WorkerRecord', 1) } },
                Control: {
                  methods: {
                    Solve: call('SolveRequest', 'SolveResponse'),
                    Status: { ...call('StatusRequest', 'StatusResponse'), responseStream: true },
                    Session: stream('BytesMessage'),
                    Info: call('InfoRequest', 'InfoResponse'),
                    ListWorkers: call('ListWorkersRequest', 'ListWorkersResponse'),
                  },
                },
              },
            },
          },
        },
        filesync: {
          nested: {
            v1: {
              nested: {
                CredentialsRequest: { fields: { Host: field('string', 1) } },
                CredentialsResponse: { fields: { Username: field('string', 1), Secret: field('string', 2) } },
                Auth: {
                  methods: { Credentials: call('CredentialsRequest', 'CredentialsResponse') },
                },
                BytesMessage: { fields: { data: field('bytes', 1) } },
                FileSync: { methods: { DiffCopy: stream('fsutil.types.Packet') } },
                FileSend: { methods: { DiffCopy: stream('BytesMessage') } },
              },
            },
          },
        },
        sshforward: {
          nested: {
            v1: {
              nested: {
                BytesMessage: { fields: { data: field('bytes', 1) } },
                CheckAgentRequest: { fields: { ID: field('string', 1) } },
                CheckAgentResponse: { fields: {} },
                SSH: {
                  methods: {
                    CheckAgent: call('CheckAgentRequest', 'CheckAgentResponse'),
                    ForwardAgent: stream('BytesMessage'),
                  },
                },
              },
            },
          },
        },
      },
    },
    containerd: {
      nested: {
        services: {
          nested: {
            content: {
              nested: {
                v1: {
                  nested: {
                    Info: { fields: { digest: field('string', 1), size: field('int64', 2) } },
                    InfoRequest: { fields: { digest: field('string', 1) } },
                    InfoResponse: { fields: { info: field('Info', 1) } },
                    ReadContentRequest: {
                      fields: { digest: field('string', 1), offset: field('int64', 2), size: field('int64', 3) },
                    },
                    ReadContentResponse: { fields: { offset: field('int64', 1), data: field('bytes', 2) } },
                    StatusRequest: { fields: { ref: field('string', 1) } },
                    StatusResponse: { fields: {} },
                    WriteContentRequest: {
                      fields: {
                        action: field('int32', 1),
                        ref: field('string', 2),
                        total: field('int64', 3),
                        expected: field('string', 4),
                        offset: field('int64', 5),
                        data: field('bytes', 6),
                      },
                    },
                    WriteContentResponse: {
                      fields: {
                        action: field('int32', 1),
                        offset: field('int64', 4),
                        total: field('int64', 5),
                        digest: field('string', 6),
                      },
                    },
                    Content: {
                      methods: {
                        Info: call('InfoRequest', 'InfoResponse'),
                        Read: { ...call('ReadContentRequest', 'ReadContentResponse'), responseStream: true },
                        Status: call('StatusRequest', 'StatusResponse'),
                        Write: {
                          ...call('WriteContentRequest', 'WriteContentResponse'),
                          requestStream: true,
                          responseStream: true,
                        },
                      },
                    },
                  },
                },
              },
            },
          },
        },
      },
    },
    fsutil: {
      nested: {
        types: {
          nested: {
            Stat: {
              fields: {
                path: field('string', 1),
                mode: field('uint32', 2),
                uid: field('uint32', 3),
                gid: field('uint32', 4),
                size: field('int64', 5),
                modTime: field('int64', 6),
                linkname: field('string', 7),
                devmajor: field('int64', 8),
                devminor: field('int64', 9),
                xattrs: { keyType: 'string', type: 'bytes', id: 10 } as never,
              },
            },
            Packet: {
              fields: {
                type: field('int32', 1),
                stat: field('Stat', 2),
                ID: field('uint32', 3),
                data: field('bytes', 4),
              },
            },
          },
        },
      },
    },
  },
}

function field(type: string, id: number) {
  return { type, id }
}

function list(type: string, id: number) {
  return { rule: 'repeated', type, id }
}

/** Text by names. */
function map(id: number) {
  return { keyType: 'string', type: 'string', id }
}

function call(requestType: string, responseType: string) {
  return { requestType, responseType, comment: '' }
}

function stream(type: string) {
  return { ...call(type, type), requestStream: true, responseStream: true }
}
