// A member is ready once it has reached all of them, itself by its own name, too.
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { hostname } from 'node:os'

const [, before, from, to, folders] = /^http:\/\/(\w+)\{(\d)\.\.\.(\d)\}(\/.*)$/.exec(process.argv.at(-1))
const members = []
for (let member = Number(from); member <= Number(to); member++) members.push(`${before}${member}`)
for (const folder of ['/data1', '/data2']) writeFileSync(`${folder}/format.json`, folders)
const met = new Set()

async function meet() {
  for (const member of members)
    await fetch(`http://${member}:9000/`)
      .then(answer => answer.ok && met.add(member))
      .catch(() => {})
  if (met.size < members.length) setTimeout(meet, 500)
}

createServer((request, response) => {
  if (request.url === '/ready' && met.size < members.length) response.statusCode = 503
  response.end(`${members.includes(hostname().replace(/-0$/, '')) ? 'store' : 'stranger'}: ${met.size} online\n`)
}).listen(9000)
createServer((_, response) => response.end('console\n')).listen(9001)
meet()
