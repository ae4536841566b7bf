#!/usr/bin/env node
// `npm run bench`: how long whole processes take and how much memory they need, as Markdown tables (`RUNS=3 npm run bench` for a quick
// look). `npm run bench -- deploy` measures a deploy, for which it needs a cluster.
const [what = 'compile'] = process.argv.slice(2)
if (!['compile', 'deploy'].includes(what)) throw new Error(`\`${what}\` is neither \`compile\` nor \`deploy\``)
await import(`./${what}.mjs`)
