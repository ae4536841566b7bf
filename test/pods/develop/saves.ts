import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { TEMPORARY } from '../../../sync/stage/writer.ts'

// Files are saved at random on both sides of a development container, and each save is reported, so that a test can
// check afterwards that none is lost.

/** Save of a file, with the mark that it wrote and the one that it replaced. */
export interface Save {
  readonly name: string
  /** First line of the file; undefined if it was deleted. */
  readonly mark?: string
  /** First line before the save. */
  readonly saw: string
}

export interface SaverOptions {
  readonly side: 'laptop' | 'container'
  readonly run: number
  readonly milliseconds: number
  /** True if files are always renamed into place, because the process may be killed while it writes. */
  readonly isWhole?: boolean
}

/** Number of files that both sides save, once per run each. */
export const SHARED = 4

const OWN = 6

/**
 * Node.js program that saves files in the folder of its first argument until the time is over, and prints each save.
 */
const SAVER = `
const fs = require('fs'), path = require('path')
const [folder, text] = process.argv.slice(1)
const { side, run, milliseconds, isWhole } = JSON.parse(text)
let count = 0
const say = save => fs.writeSync(1, JSON.stringify(save) + '\\n')
const seen = place => { try { return fs.readFileSync(place, 'utf8').split('\\n')[0] } catch { return '' } }
function save(name, size) {
  const place = path.join(folder, name)
  fs.mkdirSync(path.dirname(place), { recursive: true })
  const mark = [side, run, ++count].join(' ')
  const bytes = mark + '\\n' + String(count % 10).repeat(size) + '\\nend of ' + mark + '\\n'
  const saw = seen(place)
  if (isWhole || Math.random() < 0.5) {
    fs.writeFileSync(place + '~', bytes)
    fs.renameSync(place + '~', place)
  } else fs.writeFileSync(place, bytes)
  say({ name, mark, saw })
}
const ended = Date.now() + milliseconds
const once = Array.from({ length: ${SHARED} }, (_, n) => ['both-' + run + '-' + n + '.txt', 200])
once.push([side + '-large-' + run % 3 + '.txt', 1500000], ['gone/' + side + '-' + run + '.txt', 10])
for (const [name, size] of once) setTimeout(() => save(name, size), Math.random() * milliseconds * 0.9)
setTimeout(() => {
  const name = 'gone/' + side + '-' + (run - 1) + '.txt'
  const saw = seen(path.join(folder, name))
  if (saw === '') return
  fs.unlinkSync(path.join(folder, name))
  say({ name, saw })
}, Math.random() * milliseconds * 0.9)
function next() {
  if (Date.now() > ended) return
  const n = Math.floor(Math.random() * ${OWN})
  save((n % 2 ? 'in/' + side + '/' : '') + side + '-' + n + '.txt', Math.floor(Math.random() ** 3 * 20000))
  setTimeout(next, 10 + Math.random() * 60)
}
next()
`

/** Returns the command of the saver, for the folder in which it runs. */
export const saverCommand = (folder: string, options: SaverOptions): readonly string[] => [
  'node',
  '-e',
  SAVER,
  folder,
  JSON.stringify(options),
]

/** Parses the output of a saver. An incomplete last line does not count as a save. */
export function savesOf(output: string): readonly Save[] {
  return output
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line))
}

/** Saves on this machine, and returns the saves when the time is over. */
export function saveHere(folder: string, options: SaverOptions): Promise<readonly Save[]> {
  return new Promise((resolve, reject) => {
    const [, ...words] = saverCommand(folder, options)
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', text => {
      output += text
    })
    child.on('error', reject)
    child.on('close', () => resolve(savesOf(output)))
  })
}

/** Content of a file, as the two sides are compared. */
export interface SeenFile {
  readonly hash: string
  /** First line of the file. */
  readonly mark: string
}

export type SeenFiles = Readonly<Record<string, SeenFile>>

/** Node.js program that prints the files of a folder as `SeenFiles`. */
export const READER = `
const fs = require('fs'), path = require('path')
const files = {}
for (const one of fs.readdirSync(process.argv[1], { recursive: true, withFileTypes: true })) {
  if (!one.isFile()) continue
  const place = path.join(one.parentPath, one.name)
  const bytes = fs.readFileSync(place)
  const hash = require('crypto').createHash('sha256').update(bytes).digest('hex')
  files[path.relative(process.argv[1], place)] = { hash, mark: bytes.toString().split('\\n')[0] }
}
console.log(JSON.stringify(files))
`

/** Returns the files of a folder of this machine, without those that a killed `up` was writing. */
export function filesHere(folder: string): SeenFiles {
  const all = readdirSync(folder, { recursive: true, withFileTypes: true })
  const entries = all.filter(one => one.isFile() && !one.name.startsWith(TEMPORARY))
  return Object.fromEntries(
    entries.map(one => {
      const place = join(one.parentPath, one.name)
      const bytes = readFileSync(place)
      const hash = createHash('sha256').update(bytes).digest('hex')
      return [place.slice(folder.length + 1), { hash, mark: bytes.toString().split('\n')[0] ?? '' }]
    }),
  )
}

/** Returns the files in which two sides differ, one line each. */
export function differences(here: SeenFiles, there: SeenFiles): readonly string[] {
  const names = new Set([...Object.keys(here), ...Object.keys(there)])
  return [...names]
    .filter(name => here[name]?.hash !== there[name]?.hash)
    .map(name => `${name}: here \`${here[name]?.mark}\`, there \`${there[name]?.mark}\``)
}

/** Returns the saves that are lost, one line each. `kept` are the marks of the files that lost a conflict. */
export function lostOf(
  files: SeenFiles,
  { laptop, container }: { readonly laptop: readonly Save[]; readonly container: readonly Save[] },
  kept: ReadonlySet<string>,
): readonly string[] {
  const lost: string[] = []
  const all = [...laptop, ...container]
  for (const name of new Set(all.map(one => one.name))) {
    const found = files[name]?.mark
    const [ours, theirs] = [laptop, container].map(saves => saves.findLast(one => one.name === name))
    if (ours && theirs) {
      // Each side has saved the file once: the save is in the file or kept, or the other side has seen and replaced it.
      for (const [one, other] of [
        [ours, theirs],
        [theirs, ours],
      ] as const)
        if (found !== one.mark && !kept.has(one.mark ?? '') && !(found === other.mark && other.saw === one.mark))
          lost.push(`${name}: \`${one.mark}\` is lost; there is \`${found}\``)
    } else {
      // Only one side has saved the file, so a save of the other side cannot have won.
      const last = ours ?? theirs
      if (found !== last?.mark && !isLater(found, last))
        lost.push(`${name}: \`${last?.mark}\`, but there is \`${found}\``)
    }
  }
  return lost
}

/** Returns true for a save that its process could no longer report. */
function isLater(found: string | undefined, told: Save | undefined): boolean {
  const [side, run, count] = (found ?? '').split(' ')
  const [toldSide, toldRun, toldCount] = (told?.mark ?? '').split(' ')
  return side === toldSide && run === toldRun && Number(count) > Number(toldCount)
}

/** Returns the marks of all files that lost a conflict, below devctl's own folder. */
export function keptMarks(home: string): ReadonlySet<string> {
  const entries = readdirSync(home, { recursive: true, withFileTypes: true })
  const kept = entries.filter(one => one.isFile() && one.parentPath.includes('/conflicts/'))
  return new Set(kept.map(one => readFileSync(join(one.parentPath, one.name), 'utf8').split('\n')[0] ?? ''))
}
