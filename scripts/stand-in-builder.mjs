import { connect } from 'node:http2'
import { byteStream } from '../dist/adapters/buildkit/connect.js'
import { loadGrpc, serviceDefinition } from '../dist/adapters/buildkit/protocol.js'
import { frame, messagesIn } from '../dist/adapters/buildkit/session/frames.js'
import { decodeMessage, encodeMessage } from '../dist/adapters/buildkit/wire.js'

const DIGEST = `sha256:${'0'.repeat(64)}`

/**
 * Starts a stand-in for BuildKit that receives all files of a context and builds nothing, which is enough for a build
 * to finish. Returns its address, and a function that closes it.
 */
export async function standInBuilder() {
  const grpc = await loadGrpc()
  const server = new grpc.Server()
  const began = withResolvers()
  const ended = withResolvers()
  server.addService(serviceDefinition('moby.buildkit.v1.Control'), {
    Info: (_, done) => done(null, { buildkitVersion: { version: 'v0' } }),
    Session: call => began.resolve(clientOver(byteStream(Object.assign(call, { cancel: () => call.end() })))),
    Solve: async (_, done) => {
      const client = await began.promise
      for (const folder of ['dockerfile', 'context']) await takeFiles(client, folder)
      ended.resolve()
      done(null, { ExporterResponse: { 'containerimage.digest': DIGEST } })
      client.close()
    },
    Status: async call => {
      await ended.promise
      for (const status of statuses()) call.write(status)
      call.end()
    },
  })
  const port = await new Promise((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  )
  return { address: `tcp://127.0.0.1:${port}`, close: () => server.forceShutdown() }
}

function withResolvers() {
  const made = {}
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }))
  return made
}

/** Returns an HTTP/2 client for a session connection, on which devctl is the server. */
const clientOver = connection => connect('http://devctl', { createConnection: () => connection })

const [REQUEST, DATA, FINISH] = [1, 2, 3]

/** Requests the first file of a folder from devctl, as BuildKit requests the files that it does not have. */
async function takeFiles(client, folder) {
  const path = '/moby.filesync.v1.FileSync/DiffCopy'
  const headers = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' }
  const call = client.request({ ...headers, 'dir-name': folder, followpaths: 'Dockerfile' })
  const send = packet => call.write(Buffer.concat(frame(encodeMessage('fsutil.types.Packet', packet))))
  for await (const bytes of messagesIn(call, message => message)) {
    const { type, data } = decodeMessage('fsutil.types.Packet', bytes)
    if (bytes.length === 0) send({ type: REQUEST, ID: 0 })
    if (type === DATA && !data) send({ type: FINISH })
  }
}

/** Returns the status messages of a build with one step, which is looked up, runs, and prints a line. */
function statuses() {
  const [vertex, time] = ['sha256:1', { seconds: 1_700_000_000, nanos: 1 }]
  const step = { digest: vertex, name: '[2/2] RUN true', inputs: [], started: time }
  return [
    { vertexes: [step] },
    { statuses: [{ ID: 'transferring', vertex, current: 1, total: 2, started: time }] },
    { logs: [{ vertex, stream: 1, msg: Buffer.from('done\n'), timestamp: time }] },
    { vertexes: [{ ...step, cached: true, completed: time }] },
  ]
}
