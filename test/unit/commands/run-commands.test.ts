import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { uninstallCommand } from '../../../commands/helm-releases.ts'
import { type RunOptions, runCommands } from '../../../commands/run-commands.ts'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import { SourceFile } from '../../../compiler/text/source.ts'
import { KnownSecrets } from '../../../compiler/values/secrets/known-secrets.ts'

const work = mkdtempSync(join(tmpdir(), 'devctl-run-commands-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))

/** Runs the texts as commands that are named c1, c2 and so on. */
async function run(texts: readonly string[], options: Partial<RunOptions> = {}) {
  const lines: string[] = []
  const result = await runCommands(
    texts.map((command, at) => ({ name: `c${at + 1}`, command })),
    {
      folder: work,
      env: { PATH: process.env.PATH },
      output: ({ command, stream, text }) => lines.push(`${command.name} ${stream}: ${text}`),
      ...options,
    },
  )
  return { ...result, lines }
}

/** Returns true if a process exists and is not a zombie that its parent has not reaped. */
function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

const pidIn = (file: string) => Number(readFileSync(join(work, file), 'utf8'))

describe('commands', () => {
  test('commands run one after another in the folder, with no more than the given environment', async () => {
    const { lines, failed } = await run(['pwd; echo "$A"; echo err >&2', 'echo "[$HOME]"; cat'], {
      env: { PATH: process.env.PATH, A: 'x y' },
    })
    expect(failed).toBeUndefined()
    expect(lines.toSorted()).toEqual(
      [`c1 stderr: err`, `c1 stdout: ${work}`, 'c1 stdout: x y', 'c2 stdout: []'].toSorted(),
    )
  })

  test('commands run under bash, or with `noBash` under sh', async () => {
    const shell = 'case $0 in *bash) echo bash;; *) echo "$0";; esac'
    expect((await run([shell, '[[ a == a ]] && echo fine'])).lines).toEqual(['c1 stdout: bash', 'c2 stdout: fine'])
    expect((await run([shell], { noBash: true })).lines).toEqual(['c1 stdout: sh'])
  })

  test('arguments of commands are not run as code', async () => {
    const evil = ['$(touch pwned)', '`touch pwned`', '; touch pwned', '--namespace=x', "a'b", '']
    const lines: string[] = []
    for (const noBash of [false, true])
      await runCommands([{ name: 'all', command: 'printf "[%s]\\n" "$@"', args: evil }], {
        folder: work,
        env: { PATH: process.env.PATH },
        noBash,
        output: ({ text }) => lines.push(text),
      })
    expect(lines).toEqual([...evil, ...evil].map(one => `[${one}]`))
    expect(existsSync(join(work, 'pwned'))).toBe(false)
  })

  test('names of Helm releases, which others can write, are passed as arguments', () => {
    const { command, args } = uninstallCommand(['rel', '-x; $(touch pwned)'], 'shop')
    expect(command).toBe('helm uninstall --ignore-not-found "$@"')
    expect(args).toEqual(['--namespace', 'shop', '--', 'rel', '-x; $(touch pwned)'])
  })

  test('commands stop at the first one that fails, with its status and its position', async () => {
    const file = new SourceFile('devctl.yml', 'deploy:\n  - exit 3\n')
    const span = { file, start: 12, end: 18 }
    const begun: string[] = []
    const { failed, diagnostics } = await runCommands(
      ['true', 'exit 3', 'touch never'].map(command => ({ name: command, command, span })),
      { folder: work, env: process.env, output: () => {}, begin: ({ name }) => begun.push(name) },
    )
    expect(begun).toEqual(['true', 'exit 3'])
    expect(failed).toMatchObject({ exitCode: 3, signal: null })
    expect(diagnostics).toEqual([
      { code: 'deploy/command-failed', severity: 'error', message: '`exit 3` failed with exit status 3', span },
    ])
    expect(existsSync(join(work, 'never'))).toBe(false)
  })

  test.each([
    ['kill -9 $$', 'was killed by SIGKILL', /memory/],
    ['kill $$', 'was killed by SIGTERM', undefined],
    ['nothing-of-this-name', 'failed with exit status 127', /PATH/],
    ['./data', 'failed with exit status 126', /chmod/],
  ])('the diagnostic says how `%s` ended', async (command, message, hint) => {
    writeFileSync(join(work, 'data'), 'x', { mode: 0o600 })
    const { diagnostics } = await run([command])
    expect(diagnostics[0]!.message).toBe(`\`c1\` ${message}`)
    if (hint) expect(diagnostics[0]!.hint).toMatch(hint)
    else expect(diagnostics[0]).not.toHaveProperty('hint')
  })

  test('commands are refused without bash, and without the folder', async () => {
    await expect(run(['true'], { env: { PATH: '/nowhere' } })).rejects.toThrow(UserError)
    await expect(run(['true'], { env: { PATH: '/nowhere' } })).rejects.toMatchObject({
      message: '`bash` is needed to run the commands of the manifest, and is not on the PATH',
      hint: 'install bash, or run them with `sh`: `--no-bash`',
    })
    await expect(run(['true'], { folder: join(work, 'gone') })).rejects.toThrow('does not exist')
  })

  test('secrets are masked in output and messages', async () => {
    const { lines } = await run(['echo "token=$T"; echo $T | base64'], {
      env: { PATH: process.env.PATH, T: 'hunter22hunter22' },
      secrets: ['hunter22hunter22'],
    })
    expect(lines).toEqual(['c1 stdout: token=***', 'c1 stdout: ***'])
    const { diagnostics } = await runCommands([{ name: 'login hunter22hunter22', command: 'false' }], {
      folder: work,
      env: process.env,
      secrets: ['hunter22hunter22'],
      output: () => {},
    })
    expect(diagnostics[0]!.message).toBe('`login ***` failed with exit status 1')
  })

  test('a secret that is a name of the project is masked only as a whole value', async () => {
    const known = new KnownSecrets(['acme-platform'])
    known.addNames(['acme-platform'])
    const { lines } = await run(
      [
        'echo "password=$T https://$T-web.example.com"; echo $T',
        'echo HANDED_TOKEN=$T-2 >> $DEVCTL_ENV',
        'echo x/$T x/$T-2',
      ],
      {
        env: { PATH: process.env.PATH, T: 'acme-platform' },
        known,
      },
    )
    expect(lines).toEqual([
      'c1 stdout: password=*** https://acme-platform-web.example.com',
      'c1 stdout: ***',
      'c3 stdout: x/acme-platform x/***',
    ])
    const { diagnostics } = await runCommands([{ name: 'make acme-platform', command: 'false' }], {
      ...{ folder: work, env: process.env, known, output: () => {} },
    })
    expect(diagnostics[0]!.message).toBe('`make acme-platform` failed with exit status 1')
  })

  test('a fast program waits until its output is taken', async () => {
    let lines = 0
    let most = 0
    let waiting = 0
    await run(['yes | head -n 20000'], {
      output: async () => {
        waiting++
        lines++
        most = Math.max(most, waiting)
        if (lines % 1000 === 0) await new Promise(resolve => setImmediate(resolve))
        waiting--
      },
    })
    expect(lines).toBe(20_000)
    expect(most).toBe(1)
  })

  test('a slow output callback gets all lines', async () => {
    const taken: string[] = []
    await run(['seq 40'], {
      drain: 1,
      output: async ({ text }) => {
        await new Promise(resolve => setTimeout(resolve, 3))
        taken.push(text)
      },
    })
    expect(taken).toHaveLength(40)
  })

  test('an exception of the output callback ends the command', async () => {
    const output = () => {
      throw new Error('full')
    }
    await expect(run(['echo $$ > pid-of-thrower; echo x; sleep 300'], { output })).rejects.toThrow('full')
    expect(isRunning(pidIn('pid-of-thrower'))).toBe(false)
  })
})

describe('DEVCTL_ENV', () => {
  test('`DEVCTL_ENV` passes variables on, in a private file that is deleted at the end', async () => {
    const { lines, variables } = await run([
      `echo "URL='http://x y'" >> $DEVCTL_ENV; echo N=1 >> $DEVCTL_ENV; stat -c %a $DEVCTL_ENV $(dirname $DEVCTL_ENV); echo $DEVCTL_ENV`,
      'echo "$URL $N"; echo "N=2" > $DEVCTL_ENV',
      'echo "$URL $N"',
    ])
    expect(lines.slice(0, 2)).toEqual(['c1 stdout: 600', 'c1 stdout: 700'])
    expect(lines.slice(3)).toEqual(['c2 stdout: http://x y 1', 'c3 stdout: http://x y 2'])
    expect(variables).toEqual({ URL: 'http://x y', N: '2' })
    const path = lines[2]!.replace('c1 stdout: ', '')
    expect(() => statSync(dirname(path))).toThrow('ENOENT')
  })

  test('a malformed line is a warning with its position, without any value', async () => {
    const { variables, diagnostics, failed } = await run([
      'printf "A=1\\nNOT A NAME=hunter22\\nB=2\\n" > $DEVCTL_ENV',
      'rm $DEVCTL_ENV; mkfifo $DEVCTL_ENV',
    ])
    expect(failed).toBeUndefined()
    expect(variables).toEqual({ A: '1', B: '2' })
    expect(diagnostics.map(({ severity, message }) => `${severity} ${message}`)).toEqual([
      'warning invalid `DEVCTL_ENV` of `c1`: line 2: the name of a variable cannot contain a space',
      'warning invalid `DEVCTL_ENV` of `c2`: it is not a file anymore',
    ])
    expect(JSON.stringify(diagnostics)).not.toContain('hunter22')
  })

  test.each([
    ['a line that refers to itself', ["echo 'L=${L}a' >> $DEVCTL_ENV", 'true'], 'a'],
    ['lines that refer to each other', ["echo 'L=${L}a' >> $DEVCTL_ENV", "echo 'L=${L}b' >> $DEVCTL_ENV"], 'ab'],
    ['a line without an end', ["printf 'L=${L}a' >> $DEVCTL_ENV", 'true'], 'a'],
    ['a line of two commands', ["printf 'L=a' >> $DEVCTL_ENV", 'echo b >> $DEVCTL_ENV'], 'ab'],
    ['a file that is written again', ["echo 'L=a' > $DEVCTL_ENV", "echo 'L=${L}b' > $DEVCTL_ENV", 'true'], 'ab'],
    ['a file that is emptied', ["echo 'L=a' > $DEVCTL_ENV", '> $DEVCTL_ENV', "echo 'L=${L}b' > $DEVCTL_ENV"], 'ab'],
  ])('`DEVCTL_ENV` is read once, also with %s', async (_, commands, expected) => {
    const { lines, variables } = await run([...commands, 'echo $L'])
    expect(lines).toEqual([`c${commands.length + 1} stdout: ${expected}`])
    expect(variables).toEqual({ L: expected })
  })

  test('a problem of `DEVCTL_ENV` is reported for the command that caused it, and keeps no other line out', async () => {
    const { variables, diagnostics } = await run([
      'echo A=1 >> $DEVCTL_ENV; echo NOT A NAME=x >> $DEVCTL_ENV',
      'true',
      'printf "B=\\0\\nC=3\\nNOR THIS=x\\n" >> $DEVCTL_ENV',
      'rm $DEVCTL_ENV; mkfifo $DEVCTL_ENV',
      'true',
    ])
    expect(variables).toEqual({ A: '1', C: '3' })
    expect(diagnostics.map(({ message }) => message)).toEqual([
      'invalid `DEVCTL_ENV` of `c1`: line 2: the name of a variable cannot contain a space',
      'invalid `DEVCTL_ENV` of `c3`: the value of `B` has a NUL byte',
      'invalid `DEVCTL_ENV` of `c3`: line 5: the name of a variable cannot contain a space',
      'invalid `DEVCTL_ENV` of `c4`: it is not a file anymore',
    ])
  })

  test('a value that is passed on under the name of a secret is masked from then on', async () => {
    const { lines } = await run(['echo DB_PASSWORD=hunter22 > $DEVCTL_ENV', 'echo "is $DB_PASSWORD"'])
    expect(lines).toEqual(['c2 stdout: is ***'])
  })
})

describe('processes that still run', () => {
  test('an aborted signal ends the whole process group', async () => {
    const stop = new AbortController()
    const done = run(['sleep 300 & echo $! > pid-of-child; echo $$ > pid-of-shell; echo up; wait'], {
      signal: stop.signal,
      output: () => stop.abort(new Error('enough')),
    })
    await expect(done).rejects.toThrow('enough')
    expect([isRunning(pidIn('pid-of-child')), isRunning(pidIn('pid-of-shell'))]).toEqual([false, false])
  })

  test('an aborted signal also ends a process that ignores SIGTERM', async () => {
    const stop = new AbortController()
    const done = run(["trap '' TERM; echo $$ > pid-of-deaf; echo up; while true; do sleep 0.05; done"], {
      signal: stop.signal,
      grace: 100,
      output: () => stop.abort(new Error('enough')),
    })
    await expect(done).rejects.toThrow('enough')
    expect(isRunning(pidIn('pid-of-deaf'))).toBe(false)
  })

  test('a process that ends within the grace period can still print output', async () => {
    const said: string[] = []
    const stop = new AbortController()
    const done = run(["trap 'echo tidied; exit' TERM; echo up; while true; do sleep 0.05; done"], {
      signal: stop.signal,
      output: ({ text }) => {
        said.push(text)
        stop.abort(new Error('enough'))
      },
    })
    await expect(done).rejects.toThrow('enough')
    expect(said).toContain('tidied')
  })

  test('a background process serves later commands, delays nothing, and is ended at the end', async () => {
    const { lines, failed } = await run(
      [
        '(echo $BASHPID > pid-of-server; until [ -e asked ]; do sleep 0.02; done; echo asked; touch answered; sleep 300) &',
        'touch asked; until [ -e answered ]; do sleep 0.02; done',
      ],
      { drain: 50 },
    )
    expect(failed).toBeUndefined()
    expect(lines).toEqual(['c1 stdout: asked'])
    expect(isRunning(pidIn('pid-of-server'))).toBe(false)
  })

  test('a process that left the group and holds the output open does not delay the end', async () => {
    const { failed } = await run(['setsid sleep 60 & echo $! > pid-of-daemon'], { drain: 50 })
    expect(failed).toBeUndefined()
    const daemon = pidIn('pid-of-daemon')
    if (isRunning(daemon)) process.kill(daemon)
  })

  test('no command runs if the signal is aborted before', async () => {
    await expect(run(['touch ran'], { signal: AbortSignal.abort(new Error('late')) })).rejects.toThrow('late')
    expect(existsSync(join(work, 'ran'))).toBe(false)
  })
})
