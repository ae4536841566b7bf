import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commands } from '../../../cli/commands.ts'
import { root } from '../../support/cases.ts'
import { makeFolder } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'

const script = async (shell: string) => (await run(['completion', shell], { cwd: root })).stdout

/** Returns what bash offers for the last argument of a line. */
async function offered(...line: string[]): Promise<readonly string[]> {
  const words = line.map(word => `'${word}'`).join(' ')
  const program = `devctl() { if [ $1 = context ]; then printf 'kind\\nprod\\n'; else printf 'web\\ndb\\n'; fi; }\n${await script('bash')}
COMP_WORDS=(devctl ${words}); COMP_CWORD=${line.length}; _devctl 2>/dev/null; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, status, stderr } = spawnSync('bash', ['-c', program], { encoding: 'utf8', cwd: root })
  expect(status, stderr).toBe(0)
  return stdout.trim().split('\n')
}

describe('completion', () => {
  test('bash completion offers commands, options, choices, services and files', async () => {
    const names = commands.map(({ name }) => name).filter(name => !name.includes(' '))
    expect(await offered('')).toEqual([...names, '--version', '--loglevel', '-h', '--help'])
    expect(await offered('re')).toEqual(['restart', 'render'])
    expect(await offered('render', '--outp')).toEqual(['--output', '--output-dir'])
    expect(await offered('render', '--output', '')).toEqual(['yaml', 'json', 'kustomize'])
    expect(await offered('--loglevel', 'e')).toEqual(['error'])
    expect(await offered('config', 'w')).toEqual(['web'])
    expect(await offered('render', '-f', 'pack')).toEqual(expect.arrayContaining(['package.json']))
    expect(await offered('completion', '')).toEqual(['bash', 'zsh', 'fish', '--loglevel', '-h', '--help'])
    expect(await offered('help', 'ren')).toEqual(['render'])
    expect(await offered('render', '--name', '')).toEqual([''])
  })

  test('bash completion offers paths with blanks and special characters', async () => {
    const cwd = makeFolder({ 'my compose.yaml': '', 'my *.yaml': '', 'my folder/x': '' })
    const program = `${await script('bash')}
for option in -f --project-directory; do
  COMP_WORDS=(devctl render $option my); COMP_CWORD=3; _devctl 2>/dev/null; printf '%s|' "\${COMPREPLY[@]}"; echo
done`
    const { stdout, stderr } = spawnSync('bash', ['-c', program], { encoding: 'utf8', cwd })
    const [files = '', folders] = stdout.split('\n')
    // There is no `compopt` outside of a completion, as in bash 3.2, so the script quotes.
    const quoted = ['my\\ \\*.yaml', 'my\\ compose.yaml', 'my\\ folder']
    expect(files.split('|').filter(Boolean).sort(), stderr).toEqual(quoted)
    expect(folders).toBe('my\\ folder|')
  })

  test('bash completion offers subcommands and contexts', async () => {
    const below = ['use', 'show', 'list', 'delete']
    expect((await offered('context', '')).slice(0, 4)).toEqual(below)
    expect(await offered('context', 'sh')).toEqual(['show'])
    expect(await offered('context', 'list', '--output', '')).toEqual(['text', 'wide', 'json', 'name'])
    expect(await offered('context', 'use', 'k')).toEqual(['kind'])
    expect(await offered('context', 'use', '--bui')).toEqual(['--builder'])
    expect(await offered('context', 'delete', '')).toEqual(expect.arrayContaining(['kind', 'prod']))
    expect(await offered('deploy', '--context', 'p')).toEqual(['prod'])
    expect(await offered('namespace', 'us')).toEqual(['use'])
    expect(await offered('use', '')).not.toContain('kind')
    expect(await offered('help', 'na')).toEqual(['namespace'])
  })

  test.each(['zsh', 'fish'])('the completion of %s contains every command and option', async shell => {
    const text = await script(shell)
    for (const command of commands) {
      for (const word of command.name.split(' ')) expect(text).toContain(word)
      for (const { flags } of Object.values(command.options)) {
        const long = /--([a-z-]+)/.exec(flags)![1]!
        expect(text).toContain(shell === 'fish' ? `-l ${long} ` : `--${long}`)
      }
    }
  })

  test.each(['bash', 'zsh', 'fish'])('the completion of %s is accepted by its shell, if installed', async shell => {
    // The script is named by its path, since standard input can be a socket, which cannot be opened by path.
    const file = join(makeFolder({ completion: await script(shell) }), 'completion')
    const { status, error, stderr } = spawnSync(shell, ['-n', file], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    if (error) expect(error).toMatchObject({ code: 'ENOENT' })
    else expect(status, stderr).toBe(0)
  })
})
