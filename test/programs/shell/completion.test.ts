import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from '../../support/cases.ts'
import { makeFolder, read } from '../../support/cli/folder.ts'
import { lacks } from '../../support/lacks.ts'
import { program } from '../../support/program.ts'
import { type InteractiveShell, Terminal } from './interactive-shell.ts'

const PROJECT = {
  'compose.yaml': 'services: {web: {image: a}, api: {image: b}}',
  'devctl.yml': 'name: shop\nenvironments:\n  staging: {}\n  production: {}\n',
  'my file.yaml': '',
  "it's $HOME:1.yaml": '',
  'sub folder/x': '',
}

const documentation = readFileSync(join(root, 'docs/cli.md'), 'utf8')
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
      await using terminal = await Terminal.open('bash', makeFolder(PROJECT), { before: `source ${BASH_COMPLETION}` })
      const lines = LINES.filter(([typed]) => /[="']/.test(typed))
      for (const [typed, completed] of lines) expect(await terminal.line(`${typed}\t`), typed).toBe(completed)
    },
  )

  test('bash completes values and paths without `compopt`, as bash 3.2', async () => {
    await using terminal = await Terminal.open('bash', makeFolder(PROJECT), { before: 'enable -n compopt' })
    expect(await terminal.line('devctl deploy w\t')).toBe('devctl deploy web ')
    expect(await terminal.line('devctl deploy --environment=st\t')).toBe('devctl deploy --environment=staging ')
    expect(await terminal.line('devctl render -f my\t')).toBe('devctl render -f my\\ file.yaml ')
    expect(await terminal.line('devctl render --project-directory=sub\t')).toBe(
      'devctl render --project-directory=sub\\ folder ',
    )
  })

  test.each([
    [
      'zsh',
      'mkdir ~/functions; devctl completion zsh > ~/functions/_devctl; fpath+=~/functions\nautoload -U compinit; compinit -u',
    ],
    ['fish', 'mkdir ~/.config/fish/completions; devctl completion fish > ~/.config/fish/completions/devctl.fish'],
  ] as const)('%s loads the script from its folder', async (shell, load) => {
    if (!SHELLS.includes(shell)) return
    await using terminal = await Terminal.open(shell, makeFolder(PROJECT), { load })
    expect(await terminal.line('devctl deploy w\t')).toBe('devctl deploy web ')
  })

  const hasNoKubectl = lacks('kubectl', spawnSync('kubectl', ['--help']).error !== undefined)
  test.skipIf(hasNoKubectl)('kubectl completes `kubectl devctl` with the script of the documentation', () => {
    const cwd = makeFolder(PROJECT)
    const env = { PATH: `${pluginOfKubectl()}:${process.env.PATH}`, HOME: cwd }
    const offered = (...line: string[]) =>
      spawnSync('kubectl', ['__complete', 'devctl', ...line], { cwd, env, encoding: 'utf8' }).stdout
    expect(offered('rest')).toBe('restart\tRestart services by replacing their Pods\n:4\n')
    expect(offered('render', '--environment=st')).toBe('staging\n:4\n')
    expect(offered('render', '-f', '')).toBe(':0\n')
  })

  test.skipIf(hasNoKubectl || isMissing)(
    'the script of kubectl for bash does not run names of a hostile project',
    async () => {
      const names = ['$(touch pwn)', 'x$(touch${IFS}pwn)', '`touch pwn`', 'staging']
      const files = {
        'devctl.yml': JSON.stringify({ environments: Object.fromEntries(names.map(name => [name, {}])) }),
      }
      const before = `source ${BASH_COMPLETION}; PATH=${pluginOfKubectl()}:$PATH; source <(kubectl completion bash)`
      const cwd = makeFolder(files)
      await using terminal = await Terminal.open('bash', cwd, { before })
      expect(await terminal.line('kubectl devctl render --environment \t')).toBe(
        'kubectl devctl render --environment staging ',
      )
      expect(read(cwd)).toEqual(files)
    },
  )

  test('completion prints nothing on standard error, not even from a credential plugin', () => {
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'sh', args: ['-c', 'echo loud >&2; exit 1'] }
    const kubeconfig = {
      'current-context': 'dev',
      contexts: [{ name: 'dev', context: { cluster: 'dev', user: 'dev' } }],
      clusters: [{ name: 'dev', cluster: { server: 'http://127.0.0.1:9' } }],
      users: [{ name: 'dev', user: { exec: { ...exec, interactiveMode: 'Never' } } }],
    }
    const cwd = makeFolder({ kubeconfig: JSON.stringify(kubeconfig) })
    const env = { PATH: process.env.PATH, HOME: cwd, KUBECONFIG: join(cwd, 'kubeconfig') }
    const words = [program(), '__complete', 'fish', 'deploy', '--namespace', '']
    const ended = spawnSync(process.execPath, words, { cwd, env, encoding: 'utf8' })
    expect(ended).toMatchObject({ status: 0, stdout: 'values\n', stderr: '' })
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

/** Returns a folder with devctl as a plugin of kubectl, with the script of the documentation. */
function pluginOfKubectl(): string {
  const script = /^ {4}(#!\/bin\/sh\n {4}exec devctl __complete kubectl .*)$/m.exec(documentation)?.[1]
  const folder = makeFolder({
    devctl: `#!/bin/sh\nexec ${process.execPath} -- ${program()} "$@"\n`,
    'kubectl_complete-devctl': script!.replaceAll('\n    ', '\n'),
  })
  for (const name of ['devctl', 'kubectl_complete-devctl']) chmodSync(join(folder, name), 0o755)
  symlinkSync('devctl', join(folder, 'kubectl-devctl'))
  return folder
}
