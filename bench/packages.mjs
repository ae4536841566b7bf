// `npm run bench -- packages`: what packages cost whose place own code has taken, beside that code. Each runs in
// processes of its own, in turn; the numbers are medians of processor time, which a busy machine changes little.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { composeFile } from './generate.mjs'
import { median } from './measure.mjs'
import { root, work } from './program.mjs'

const runs = Number(process.env.RUNS ?? 10)
const file = join(work, 'compose-1000.yaml')
writeFileSync(file, composeFile(1000))

const path = JSON.stringify(file)
const ours = name => `import(${JSON.stringify(pathToFileURL(join(root, 'dist', name)).href)})`
const schema = "{ type: 'object', properties: { token: { type: 'string' } } }"

const STATUS = `{ vertexes: [{ digest: 'sha256:1', name: '[1/2] FROM x', inputs: ['a'], started: { seconds: 1, nanos: 2 } }] }`

/** Code to load, and the work to do with it; `text` is the content of the file. */
const rows = [
  {
    name: 'a file of 1,000 services: js-yaml’s events and our trees',
    load: `const [{ parseYaml }, { SourceFile }, { Reporter }] = await Promise.all([
      ${ours('compiler/text/parse.js')}, ${ours('compiler/text/source.js')}, ${ours('compiler/diagnostics/reporter.js')}])`,
    work: `if (!parseYaml(new SourceFile(${path}, text), new Reporter())) throw new Error('not read')`,
  },
  {
    name: 'a file of 1,000 services: `parseDocument` of yaml',
    load: "const { parseDocument } = await import('yaml')",
    work: "if (parseDocument(text).errors.length > 0) throw new Error('not read')",
  },
  {
    name: 'an answer: validators made ahead',
    load: `const { tokenAnswer } = await ${ours('adapters/registry/answers.validators.js')}`,
    work: "if (!tokenAnswer({ token: 'a' })) throw new Error('not valid')",
  },
  {
    name: 'an answer: ajv',
    load: "const { Ajv } = await import('ajv'); const ajv = new Ajv(); let validate",
    work: `if (!(validate ??= ajv.compile(${schema}))({ token: 'a' })) throw new Error('not valid')`,
  },
  {
    name: 'a status of BuildKit: our table of messages',
    load: `const { decodeMessage, encodeMessage } = await ${ours('adapters/buildkit/wire.js')}`,
    work: `const name = 'moby.buildkit.v1.StatusResponse'
      if (decodeMessage(name, encodeMessage(name, ${STATUS})).vertexes.length !== 1) throw new Error('not read')`,
  },
  {
    name: 'a status of BuildKit: protobufjs and proto-loader',
    load: `const [{ MESSAGES }, { fromJSON }] = await Promise.all([
        ${ours('adapters/buildkit/messages.js')}, import('@grpc/proto-loader')])
      const nested = {}
      for (const [name, fields] of Object.entries(MESSAGES)) {
        const parts = name.split('.')
        const last = parts.pop()
        let at = nested
        for (const part of parts) at = (at[part] ??= { nested: {} }).nested
        at[last] = { fields: Object.fromEntries(Object.entries(fields).map(([key, { id, type, isList, isMap }]) =>
          [key, { id, type, ...(isList && { rule: 'repeated' }), ...(isMap && { keyType: 'string' }) }])) }
      }
      const call = { requestType: 'StatusResponse', responseType: 'StatusResponse', comment: '' }
      nested.moby.nested.buildkit.nested.v1.nested.Control = { methods: { Status: call } }
      const { Status } = fromJSON({ nested }, { keepCase: true, longs: Number, defaults: false })['moby.buildkit.v1.Control']`,
    work: `if (Status.requestDeserialize(Status.requestSerialize(${STATUS})).vertexes.length !== 1) throw new Error('not read')`,
  },
].map(row => ({ ...row, results: [] }))

for (let run = 0; run < runs; run++) for (const row of rows) row.results.push(processorTime(row))

console.log(`Median of ${runs} runs, Node.js ${process.version}, milliseconds of processor time.\n`)
console.log('| what | load | first time | later |\n|---|---:|---:|---:|')
for (const { name, results } of rows) {
  const columns = ['load', 'first', 'later'].map(key => median(results.map(one => one[key])).toFixed(1))
  console.log(`| ${name} | ${columns.join(' | ')} |`)
}

function processorTime({ load, work: action }) {
  const code = `
    const text = (await import('node:fs')).readFileSync(${path}, 'utf8')
    const spent = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000 }
    const begin = spent()
    ${load}
    const loaded = spent()
    const times = []
    for (let run = 0; run < 6; run++) { const before = spent(); ${action}; times.push(spent() - before) }
    const [first, ...others] = times
    console.log(JSON.stringify({ load: loaded - begin, first, later: others.sort((a, b) => a - b)[2] }))`
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    cwd: root,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(stderr)
  return JSON.parse(stdout)
}
