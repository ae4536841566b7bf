import { createServer } from 'node:http'

// It does not start without its issuer.
const { issuer } = await (await fetch(`${process.env.ISSUER}/.well-known/openid-configuration`)).json()
createServer((_, response) => response.end(`portal: people of ${issuer}\n`)).listen(3000)
