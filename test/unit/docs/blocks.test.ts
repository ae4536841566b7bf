import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { commands } from '../../../cli/commands.ts'
import { runProgram } from '../../../cli/program.ts'
import type { Io } from '../../../cli/terminal/io.ts'
import { root } from '../../support/cases.ts'
import { type Block, blocksOf, commandsOf, markOf, pages, printed, wordsOf } from '../../support/docs/blocks.ts'
import { CERTIFICATE } from '../../support/gitops/certificates.ts'
import { run } from '../../support/run.ts'
import { inScratch, writeProject } from './scratch.ts'

/** Generated pages; those of the help and of the keys have nothing to try. */
const isGenerated = (page: string) => /^docs\/(cli|compose|diagnostics)\b/.test(page)
const tried = pages.filter(page => !/^docs\/(cli|compose)\b/.test(page))

for (const page of tried) {
  describe(page, () => {
    const blocks = blocksOf(page)
    test('every block has a known language', () => {
      const known = ['sh', 'console', 'yaml', 'json', 'ts', 'text', 'diff', 'dockerfile']
      for (const block of blocks) expect(known, place(block)).toContain(block.language)
    })

    for (const block of blocks) {
      for (const { command, line } of commandsOf(block)) {
        for (const words of wordsOf(command).filter(isOurs)) {
          test(`line ${line} is understood: ${words.join(' ')}`, () => isUnderstood(words.slice(1)))
        }
      }
      if (block.language === 'yaml' && !isGenerated(page)) test(`line ${block.line} is YAML`, () => isYaml(block))
      if (block.marks.includes('compose')) test(`line ${block.line} compiles`, () => renders(block))
      if (block.marks.includes('devctl')) test(`line ${block.line} is a manifest`, () => isManifest(block))
      if (block.marks.includes('environment')) test(`line ${block.line} is an environment`, () => isEnvironment(block))
      const folder = markOf(block, 'in')
      if (folder) test(`line ${block.line} runs in ${folder}`, () => runs(block, folder), 60_000)
      const file = markOf(block, 'file')
      if (file) test(`line ${block.line} equals ${file}`, () => isFile(block, file))
    }
  })
}

test('wordsOf splits a shell line into its commands and their words', () => {
  expect(wordsOf(`A=1 devctl deploy --name 'My "Shop"' "a\\"b" 2> log | sh -c x; true # no`)).toEqual([
    ['devctl', 'deploy', '--name', 'My "Shop"', 'a"b'],
    ['sh', '-c', 'x'],
    ['true'],
  ])
})

/** Returns true for a command line of devctl that is not a synopsis. */
const isOurs = (words: readonly string[]): boolean =>
  words[0] === 'devctl' && !words.some(word => word === '[options]' || word.includes('…'))

/** Parses a command line without running it: the command, its options and their values have to be known. */
async function isUnderstood(words: readonly string[]): Promise<void> {
  const io: Io = {
    stdout: { isTTY: false, write: () => {} },
    stderr: { isTTY: false, write: () => {} },
    readStdin: async () => new Uint8Array(),
    env: {},
    cwd: root,
  }
  let called: string | undefined
  const parsed = commands.map(command => ({
    ...command,
    run: async () => {
      called = command.name
      return 0
    },
  }))
  const status = await runProgram(words, io, parsed)
  expect(status).toBe(0)
  if (!words.includes('--help') && !words.includes('--version')) expect(called).toBeDefined()
}

function isYaml({ text }: Block): void {
  for (const document of parseAllDocuments(text)) expect(document.errors).toEqual([])
}

/** Checks that a Compose file compiles without errors. */
async function renders(block: Block): Promise<void> {
  await inScratch(async folder => {
    writeProject(folder, 'compose.yaml', block.text)
    const { status, stderr } = await run(['validate', '--namespace', 'shop', '--domain', 'dev.example.com'], {
      cwd: folder,
      env: { DB_PASSWORD: 'a-value' },
    })
    expect(status, stderr).toBe(0)
  })
}

/** Checks that a `devctl.yml` compiles without errors, in each of its environments. */
async function isManifest({ text }: Pick<Block, 'text'>): Promise<void> {
  await inScratch(async folder => {
    writeProject(folder, 'devctl.yml', text)
    writeProject(folder, 'compose.yaml', compose)
    writeProject(folder, 'compose.staging.yaml', 'services: {api: {scale: 2}}\n')
    writeProject(folder, 'sealing.pem', CERTIFICATE)
    const { environments } = parse(text) as { environments?: object }
    for (const name of [undefined, ...Object.keys(environments ?? {})]) {
      const environment = name === undefined ? [] : ['--environment', name]
      const { status, stderr } = await run(['validate', ...environment], { cwd: folder })
      expect(status, stderr).toBe(0)
    }
  })
}

/** Checks that a block compiles below an environment of a `devctl.yml`. */
const isEnvironment = ({ text }: Block): Promise<void> =>
  isManifest({ text: `name: shop\nenvironments:\n  staging:\n${text.replace(/^(?=.)/gm, '    ')}` })

/** The Compose file that the manifests of the pages refer to. */
const compose = `services:
  web: {image: nginx:1.27-alpine, environment: {TOKEN_KIND: bearer}}
  api: {image: ghcr.io/acme/shop-api:1.4.2}
  db: {image: postgres:16, environment: {POSTGRES_PASSWORD: not-a-real-one}}
`

/** Runs every command of the block in a copy of the folder, and checks its status and its output. */
async function runs(block: Block, folder: string): Promise<void> {
  const copy = mkdtempSync(join(tmpdir(), 'devctl-docs-'))
  try {
    cpSync(join(root, folder), copy, { recursive: true })
    for (const { command, output } of commandsOf(block)) {
      for (const words of wordsOf(command)) {
        expect(words[0], command).toBe('devctl')
        const { status, stdout, stderr } = await run(words.slice(1), { cwd: copy })
        const expected = Number(markOf(block, 'status') ?? 0)
        expect(status, `${command}\n${stderr}`).toBe(expected)
        if (output.length > 0) expect(`${stdout}${stderr}`).toMatch(printed(output))
      }
    }
  } finally {
    rmSync(copy, { recursive: true })
  }
}

/** Checks that the block equals the file, except for comments. */
function isFile({ text }: Block, file: string): void {
  expect(parse(text)).toEqual(parse(readFileSync(join(root, file), 'utf8')))
}

const place = ({ page, line }: Block): string => `${page}:${line}`
