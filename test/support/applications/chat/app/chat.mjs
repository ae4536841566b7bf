import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'

const { host } = new URL(process.env.MONGO_URL)
const primary = await (await fetch(`http://${host}/`)).text()
if (primary === 'none') throw new Error('there is no primary')
createServer((_, response) => {
  response.end(`chat: ${primary}, ${readdirSync('/app/uploads').length} uploads\n`)
}).listen(Number(process.env.PORT))
