import { createServer } from 'node:http'

const { EUREKA_CLIENT_SERVICEURL_DEFAULTZONE: zone } = process.env
const text = async url => (await fetch(url)).text()

createServer(async (_, response) => {
  const names = ['customers-service', 'vets-service']
  const shown = await Promise.all(
    names.map(async name => text(`http://${await text(`${zone}/${name}`)}`).catch(error => error.message)),
  )
  response.end(`gateway: ${shown.join(', ')}\n`)
}).listen(8080)
