import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { makeFolder, read } from '../../support/cli/folder.ts'
import { lacks } from '../../support/lacks.ts'
import { type InteractiveShell, Terminal } from './interactive-shell.ts'

const PROJECT = {
  'compose.yaml': 'services: {web: {image: a}, api: {image: b}}',
  'devctl.yml': 'name: shop\nenvironments:\n  staging: {}\n  production: {}\n',
  'my file.yaml': '',
  "it's $HOME:1.yaml": '',
  'sub folder/x': '',
}

const BASH_COMPLETION = '/usr/share/bash-completion/bash_completion'
const SHELLS = (['bash', 'zsh', 'fish'] as const).filter(
  shell => !lacks(shell, spawnSync(shell, ['--version']).error !== undefined),
)

/** Lines before and after a Tab, in every shell. */
const LINES: readonly (readonly [typed: string, completed: string])[] = [
  ['devctl rest', 'devctl restart '],
  ['devctl context li', 'devctl context list '],
  ['devctl --loglevel e', 'devctl --loglevel error '],
  ['devctl deploy w', 'devctl deploy web '],
  ['devctl deploy web ', 'devctl deploy web api '],
  ['devctl deploy --prof', 'devctl deploy --profile '],
  ['devctl deploy --environment st', 'devctl deploy --environment staging '],
  ['devctl deploy --environment=st', 'devctl deploy --environment=staging '],
  ['devctl deploy "--environment=st', 'devctl deploy "--environment=staging" '],
  ["devctl deploy 'w", "devctl deploy 'web' "],
  ['devctl deploy --image we', 'devctl deploy --image web='],
  ['devctl deploy --image=we', 'devctl deploy --image=web='],
  ['devctl deploy -- w', 'devctl deploy -- web '],
  ['devctl exec -- my', 'devctl exec -- my'],
  ['devctl render my', 'devctl render my'],
  ['devctl render -f my', 'devctl render -f my\\ file.yaml '],
  ['devctl render -f my\\ f', 'devctl render -f my\\ file.yaml '],
  ['devctl render -f "my', 'devctl render -f "my file.yaml" '],
  ['devctl render --file=my', 'devctl render --file=my\\ file.yaml '],
  ['devctl render --project-directory su', 'devctl render --project-directory sub\\ folder/'],
  ['devctl render --project-directory=su', 'devctl render --project-directory=sub\\ folder/'],
]
const SPECIAL: Readonly<Record<InteractiveShell, string>> = {
  bash: "it\\'s\\ \\$HOME\\:1.yaml",
  zsh: "it\\'s\\ \\$HOME:1.yaml",
  fish: "it\\'s\\ \\$HOME:1.yaml",
}

/** Name that is dangerous in every shell unless it is quoted. */
const NAME = `e$(touch hacked); \`touch hacked\` & 'x' "y" *`

describe('completion', () => {
  test.each(SHELLS)('completion of %s completes a line after Tab', async shell => {
    await using terminal = await Terminal.open(shell, makeFolder(PROJECT))
    for (const [typed, completed] of LINES) expect(await terminal.line(`${typed}\t`), typed).toBe(completed)
    expect(await terminal.line('devctl render -f it\t')).toBe(`devctl render -f ${SPECIAL[shell]} `)
    expect(await terminal.line('devctl render --file=it\t')).toBe(`devctl render --file=${SPECIAL[shell]} `)
  })

  test.each(SHELLS)('%s shows descriptions after the second Tab', async shell => {
    await using terminal = await Terminal.open(shell, makeFolder(PROJECT))
    await terminal.shows('devctl re\t\t', /Restart services by replacing their Pods/)
  })

  const isMissing = lacks('bash-completion', !existsSync(BASH_COMPLETION))
  test.skipIf(isMissing)(
    'bash completes with the package bash-completion, which breaks words differently',
    async () => {
      await using terminal = await Terminal.open('bash', makeFolder(PROJECT), `source ${BASH_COMPLETION}`)
      const lines = LINES.filter(([typed]) => /[="']/.test(typed))
      for (const [typed, completed] of lines) expect(await terminal.line(`${typed}\t`), typed).toBe(completed)
    },
  )

  test('bash completes values and paths without `compopt`, as bash 3.2', async () => {
    await using terminal = await Terminal.open('bash', makeFolder(PROJECT), 'enable -n compopt')
    expect(await terminal.line('devctl deploy w\t')).toBe('devctl deploy web ')
    expect(await terminal.line('devctl deploy --environment=st\t')).toBe('devctl deploy --environment=staging ')
    expect(await terminal.line('devctl render -f my\t')).toBe('devctl render -f my\\ file.yaml ')
    expect(await terminal.line('devctl render --project-directory=sub\t')).toBe(
      'devctl render --project-directory=sub\\ folder ',
    )
  })

  test.each(SHELLS)('%s quotes names of a hostile project instead of running them', async shell => {
    const cwd = makeFolder({ 'devctl.yml': `environments:\n  ${JSON.stringify(NAME)}: {}\n` })
    await using terminal = await Terminal.open(shell, cwd)
    const words = ['render', '--environment', NAME]
    expect(await terminal.called('devctl render --environment e\t')).toEqual(words)
    expect(await terminal.called('devctl render --environment=e\t')).toEqual(['render', `--environment=${NAME}`])
    expect(await terminal.called('devctl render --environment "e\t\r')).toEqual(words)
    expect(read(cwd)).toEqual({ 'devctl.yml': expect.any(String) })
  })
})
