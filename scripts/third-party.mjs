// Lists the packages whose code the bundles contain: dist/THIRD-PARTY-LICENSES has their licences, dist/bom.cdx.json a
// bill of materials (CycloneDX). Both come from esbuild's metafiles, so code that is left out is not in them.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const HOLDER = 'node_modules/'
const NAMES = /^(un)?licen[cs]e|^copying|^notice/i

/**
 * Licence texts of packages that only refer to a licence on the web. The name of the licence and the copyright come
 * from their package.json.
 */
const TEXTS = { 'abstract-logging': mit('James Sumners') }

/** Writes the licences and the bill of materials of all packages in the bundles, from the metafiles of all bundles. */
export function writeThirdParty(metafiles) {
  const packages = bundledPackages(metafiles)
  writeFileSync(join(root, 'dist/THIRD-PARTY-LICENSES'), licences(packages))
  writeFileSync(join(root, 'dist/bom.cdx.json'), `${JSON.stringify(billOfMaterials(packages), null, 1)}\n`)
}

/**
 * Returns the packages whose code is in the bundles, sorted by name and version, each with its folder relative to the
 * root. Throws an Error for a package without a licence or without a licence text.
 */
export function bundledPackages(metafiles, from = root) {
  const outputs = metafiles.flatMap(({ outputs }) => Object.values(outputs))
  const paths = outputs.flatMap(({ inputs }) => Object.keys(inputs).filter(path => inputs[path].bytesInOutput > 0))
  const found = [...new Set(paths.filter(path => path.includes(HOLDER)).map(folderOf))].map(path => read(from, path))
  const packages = new Map(found.map(one => [`${one.name}@${one.version}`, one]))
  return [...packages.values()].sort((a, b) => compare(a.name, b.name) || compare(a.version, b.version))
}

/** Returns the folder of the package that a file belongs to. The name of a scoped package has two parts. */
function folderOf(path) {
  const start = path.lastIndexOf(HOLDER) + HOLDER.length
  const parts = path.slice(start).split('/')
  return path.slice(0, start) + parts.slice(0, parts[0].startsWith('@') ? 2 : 1).join('/')
}

function read(from, path) {
  const folder = join(from, path)
  const { name, version, license, licenses } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const files = readdirSync(folder)
    .filter(file => NAMES.test(file))
    .sort()
  const text = files.map(file => readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n').trim()).join('\n\n')
  const licence = license ?? licenses?.map(({ type }) => type).join(' OR ')
  if (!licence) throw new Error(`package ${name}@${version} in a bundle names no licence`)
  if (!(text || TEXTS[name])) throw new Error(`package ${name}@${version} in a bundle has no licence text`)
  return { name, version, licence, text: text || TEXTS[name], path: path.slice(path.indexOf(HOLDER)) }
}

/** Returns the licences as text. Each licence text appears once, after the names of the packages that have it. */
export function licences(packages) {
  const groups = new Map()
  for (const one of packages) groups.set(one.text, [...(groups.get(one.text) ?? []), one])
  const rule = '-'.repeat(80)
  const parts = [...groups].map(([text, ones]) => {
    const names = ones.map(({ name, version, licence }) => `${name} ${version} (${licence})`)
    return `${rule}\n${names.join('\n')}\n${rule}\n\n${text}\n`
  })
  return `devctl contains code of these packages, under these licences.\n\n${parts.join('\n')}`
}

/** Returns the bill of materials, without a time or a serial number: the same sources have the same bill. */
function billOfMaterials(packages) {
  const { name, version, description, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const locked = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
  const own = component({ name, version, licence: license })
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { ...own, type: 'application', description } },
    components: packages.map(one => component(one, locked[one.path]?.integrity)),
    dependencies: [
      { ref: own['bom-ref'], dependsOn: packages.map(one => purl(one)) },
      ...packages.map(one => ({ ref: purl(one) })),
    ],
  }
}

function component({ name, version, licence }, integrity) {
  const [group, plain] = name.startsWith('@') ? name.split('/') : [undefined, name]
  const [, content] = /^sha512-(\S+)$/.exec(integrity ?? '') ?? []
  return {
    type: 'library',
    'bom-ref': purl({ name, version }),
    ...(group && { group }),
    name: plain,
    version,
    ...(content && { hashes: [{ alg: 'SHA-512', content: Buffer.from(content, 'base64').toString('hex') }] }),
    licenses: [/ OR | AND /.test(licence) ? { expression: licence } : { license: { id: licence } }],
    purl: purl({ name, version }),
  }
}

const purl = ({ name, version }) => `pkg:npm/${name.replace('@', '%40')}@${version}`

const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0)

function mit(holder) {
  return `MIT License

Copyright (c) ${holder}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`
}
