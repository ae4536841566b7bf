// Makes the pages: fills in the title and the version.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'

const [title, version] = process.argv.slice(2)
mkdirSync('public')
for (const name of readdirSync('pages')) {
  const page = readFileSync(`pages/${name}`, 'utf8')
  writeFileSync(`public/${name}`, page.replaceAll('{{title}}', title).replaceAll('{{version}}', version))
  console.log(`made ${name}`)
}
