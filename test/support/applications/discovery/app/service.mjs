import { lookup } from 'node:dns/promises'
import { createServer } from 'node:http'
import { hostname } from 'node:os'

const [name, port] = process.argv.slice(2)
const { CONFIG_SERVER_URL, EUREKA_CLIENT_SERVICEURL_DEFAULTZONE: zone } = process.env
await (await fetch(CONFIG_SERVER_URL)).json()
createServer((_, response) => response.end(name)).listen(Number(port), async () => {
  // It registers the address of its container.
  const { address } = await lookup(hostname())
  await fetch(`${zone}/${name}?at=${address}:${port}`, { method: 'POST' })
})
