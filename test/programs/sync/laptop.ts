import { connect } from 'node:net'
import { NO_IGNORES } from '../../../sync/scan/ignore-source.ts'
import { createSync } from '../../../sync/session/sync.ts'

// The laptop's half of the sync in a process of its own: `laptop FOLDER STATE PORT KEY`. Prints its events and, ten
// times a second, its status, a JSON object a line.

const [local = '', stateFolder = '', port = '', key = ''] = process.argv.slice(2)
const print = (value: object) => process.stdout.write(`${JSON.stringify(value)}\n`)
const engine = createSync({
  folders: [{ name: '0', local, ignores: NO_IGNORES }],
  stateFolder,
  direction: 'both',
  compression: true,
  rescanInterval: 0,
  reset: false,
  on: event => event.kind !== 'progress' && print({ event }),
})
engine.attach(connect(Number(port), '127.0.0.1'), Buffer.from(key, 'hex'))
setInterval(() => print({ status: engine.status() }), 100)
