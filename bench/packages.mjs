// `npm run bench -- packages`: what packages cost whose place own code has taken, beside that code. Each runs in processes of its
// own, in turn; the numbers are medians of processor time, which a busy machine changes little.
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

/** What is loaded, and what is then done with it; `text` is the file. */
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
