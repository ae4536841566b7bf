#!/usr/bin/env node
// `npm run bench`: how long whole processes take and how much memory they need, as Markdown tables (`RUNS=3 npm run bench` for a quick
// look). `npm run bench -- deploy` measures a deploy, for which it needs a cluster; `npm run bench -- publish` a publish, for which it needs git.
const [what = 'compile'] = process.argv.slice(2)
if (!['compile', 'deploy', 'publish'].includes(what))
  throw new Error(`\`${what}\` is none of \`compile\`, \`deploy\` and \`publish\``)
await import(`./${what}.mjs`)
