import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'

const source = readFileSync('/etc/grafana/provisioning/datasources/datasource.yml', 'utf8')
const [, url] = /url: (.*)/.exec(source)
writeFileSync('/home/node/grafana.db', '')

createServer(async (_, response) => response.end(`dashboard:\n${await (await fetch(url)).text()}`)).listen(3000)
