import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { root } from '../../support/cases.ts'
import { writeFiles } from '../../support/editor/ask.ts'
import { EditorClient, uriOf } from '../../support/editor/client.ts'
import { lacks } from '../../support/lacks.ts'
import { program } from '../../support/program.ts'

const server = () => [process.execPath, program(), 'lsp']
const BAD = `services:
  web:
    image: nginx
    prots: ["80"]
    depends_on: [db]
  db:
    image: postgres
`
const hasNeovim = spawnSync('nvim', ['--version']).status === 0

test.skipIf(lacks('nvim', !hasNeovim))(
  'Neovim shows diagnostics, hover, completion and definitions',
  () => {
    const folder = writeFiles({ 'compose.yaml': BAD })
    const result = join(folder, 'result.json')
    const script = join(root, 'test/support/editor/neovim.lua')
    const { stderr } = spawnSync('nvim', ['--headless', '-u', 'NONE', '-i', 'NONE', '-n', '-c', `luafile ${script}`], {
      cwd: folder,
      encoding: 'utf8',
      timeout: 120_000,
      env: { PATH: process.env.PATH, HOME: folder, SERVER: JSON.stringify(server()), RESULT: result },
    })
    expect(stderr).toBe('')
    const found = JSON.parse(readFileSync(result, 'utf8'))
    expect(found).toMatchObject({
      diagnostics: [
        {
          line: 3,
          column: 4,
          severity: 1,
          code: 'services/unknown-key',
          message: 'unknown key `prots` in service `web`\nhelp: did you mean `ports`?',
        },
      ],
      hover: expect.stringContaining('Becomes `containers[].image`'),
      definition: { uri: uriOf(join(folder, 'compose.yaml')), range: { start: { line: 5, character: 2 } } },
      completion: ['db'],
      corrected: true,
      ended: true,
    })
  },
  150_000,
)

describe('devctl lsp', () => {
  /** Starts the program, and returns it with a client and its exit status. */
  function started(cwd: string) {
    const [node, ...words] = server()
    const child = spawn(node!, words, { cwd, env: { PATH: process.env.PATH, HOME: cwd } })
    onTestFinished(() => void child.kill('SIGKILL'))
    const errors: Buffer[] = []
    child.stderr.on('data', chunk => errors.push(chunk))
    const status = new Promise<number | null>(resolve => child.on('exit', resolve))
    const client = new EditorClient(child.stdout, child.stdin)
    return { child, client, status, stderr: () => Buffer.concat(errors).toString() }
  }

  test('writes nothing but the protocol, and ends with status 0 after a shutdown', async () => {
    const folder = writeFiles({ 'compose.yaml': BAD })
    const { client, status, stderr } = started(folder)
    await client.start(folder)
    await client.open(join(folder, 'compose.yaml'), BAD)
    const [found] = await client.codes(join(folder, 'compose.yaml'), ['services/unknown-key'])
    expect(found?.codeDescription?.href).toBe(
      `${uriOf(join(root, 'docs/diagnostics/services.md'))}#servicesunknown-key`,
    )
    await client.end()
    expect(await status).toBe(0)
    expect(stderr()).toBe('')
  })

  test('runs no command of a manifest, and no program that the git configuration names', async () => {
    const mounted = BAD.replace('prots: ["80"]', 'volumes: [./page.html:/page.html:ro]').replace(
      'postgres',
      'postgres\n    prots: []',
    )
    const folder = writeFiles({
      'devctl.yml': 'deploy:\n  commands: ["touch ran-command"]\n  compose: compose.yaml\n',
      'compose.yaml': mounted,
      'page.html': 'x',
      'monitor.sh': '#!/bin/sh\ntouch ran-monitor\n',
    })
    chmodSync(join(folder, 'monitor.sh'), 0o755)
    const setUp = [
      ['init', '--quiet'],
      ['add', '.'],
      ['config', 'core.fsmonitor', './monitor.sh'],
    ]
    for (const words of setUp) expect(spawnSync('git', words, { cwd: folder }).status).toBe(0)
    const { client } = started(folder)
    await client.start(folder)
    await client.open(join(folder, 'compose.yaml'), mounted)
    // A file is only copied without a warning if git has listed it.
    await client.codes(join(folder, 'compose.yaml'), ['volumes/host-copied', 'services/unknown-key'])
    await client.end()
    expect(readdirSync(folder).filter(name => name.startsWith('ran-'))).toEqual([])
  })

  test('ends with status 1 when the editor is gone', async () => {
    const folder = writeFiles({ 'compose.yaml': BAD })
    const { client, status, child } = started(folder)
    await client.start(folder)
    child.stdin.end()
    expect(await status).toBe(1)
  })
})
