import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'

const options = new Map(process.argv.slice(2).map(word => word.replace(/^--/, '').split('=')))
const config = readFileSync(options.get('config.file'), 'utf8')
const targets = [...config.matchAll(/targets: \['(.*?)'\]/g)].map(([, target]) => target).sort()
const up = new Map()

setInterval(async () => {
  for (const target of targets)
    up.set(
      target,
      await fetch(`http://${target}/metrics`).then(
        ({ ok }) => Number(ok),
        () => 0,
      ),
    )
  writeFileSync(`${options.get('storage.tsdb.path')}/up`, JSON.stringify([...up]))
}, 1000)

createServer((_, response) => response.end([...up].map(([name, value]) => `up ${name} ${value}\n`).join(''))).listen(
  9090,
)
