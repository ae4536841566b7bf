import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'

writeFileSync('/config/downloads.conf', 'port=8081\n')
mkdirSync('/data/films', { recursive: true })
writeFileSync('/data/films/one.mkv', 'film')
createServer(async (_, response) => {
  // The network of the other service is this one's own.
  const ip = await (await fetch('http://127.0.0.1:8000/ip')).text()
  response.end(ip.trim())
}).listen(8081)
