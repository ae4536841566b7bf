import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { makeFolder } from '../../support/cli/folder.ts'
import { program } from '../../support/program.ts'

export type InteractiveShell = 'bash' | 'zsh' | 'fish'

/** Key that writes the edited line to a file; no shell uses it for anything else. */
const DUMP = '\x18\x0f'
const CLEAR = '\x15'
const DEADLINE = 20_000

/** A shell at a terminal, with the completion of the built program. */
export class Terminal implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #file: string
  readonly #arguments: string
  /** Output of the terminal so far. */
  screen = ''

  private constructor(child: ChildProcess, file: string, called: string) {
    this.#child = child
    this.#file = file
    this.#arguments = called
    child.stdout!.setEncoding('utf8').on('data', text => {
      this.screen += text
    })
  }

  /** Starts a shell in a folder. Of its configuration, `before` comes first, and `load` loads the completion. */
  static async open(
    shell: InteractiveShell,
    cwd: string,
    { before = '', load = LOAD[shell] }: { readonly before?: string; readonly load?: string } = {},
  ): Promise<Terminal> {
    const home = makeFolder({ 'bin/x': '' })
    const file = join(home, 'line')
    const devctl = join(home, 'bin/devctl')
    writeFileSync(
      devctl,
      `#!/bin/sh
case $1 in
  __complete | completion) exec ${process.execPath} -- ${program()} "$@" ;;
esac
printf '%s\\n' "$@" > "$HOME/arguments.new"
mv "$HOME/arguments.new" "$HOME/arguments"
`,
    )
    chmodSync(devctl, 0o755)
    const { command, configuration } = START[shell](home, file)
    mkdirSync(join(home, '.config/fish'), { recursive: true })
    // Without this folder, fish reads all manual pages in the background.
    mkdirSync(join(home, '.local/share/fish/generated_completions'), { recursive: true })
    writeFileSync(join(home, configuration), `${before}\n${load}\n${CONFIGURATIONS[shell](file)}`)
    const env = {
      PATH: `${join(home, 'bin')}:${process.env.PATH}`,
      HOME: home,
      ZDOTDIR: home,
      DEVCTL_HOME: join(home, '.devctl'),
      KUBECONFIG: join(home, 'kubeconfig'),
      TERM: 'xterm',
      LC_ALL: 'C.UTF-8',
      COLUMNS: '100',
      HISTFILE: '/dev/null',
      fish_history: '',
    }
    const child = spawn('script', ['-qfec', command, '/dev/null'], { cwd, env, stdio: ['pipe', 'pipe', 'ignore'] })
    const terminal = new Terminal(child, file, join(home, 'arguments'))
    await terminal.#begin()
    return terminal
  }

  /** Waits until the shell reads keys: while it starts, they are lost, or come late. */
  async #begin(): Promise<void> {
    for (let count = 0; count < 100; count++) {
      this.#child.stdin!.write(`${CLEAR}: ${count}${DUMP}`)
      if ((await this.#written(this.#file, 500, `: ${count}`)) === undefined) continue
      this.#child.stdin!.write(CLEAR)
      return
    }
    throw new Error(`the shell does not start:\n${this.screen}`)
  }

  /** Returns the line after some keys, and clears it. */
  async line(keys: string): Promise<string> {
    rmSync(this.#file, { force: true })
    this.#child.stdin!.write(`${keys}${DUMP}`)
    const line = await this.#written(this.#file, DEADLINE)
    if (line === undefined) throw new Error(`the shell does not answer:\n${this.screen}`)
    this.#child.stdin!.write(CLEAR)
    return line
  }

  /** Returns the arguments with which the line after some keys calls devctl, which does not run. */
  async called(keys: string): Promise<readonly string[]> {
    rmSync(this.#arguments, { force: true })
    this.#child.stdin!.write(`${keys}\r`)
    const found = await this.#written(this.#arguments, DEADLINE)
    if (found === undefined) throw new Error(`the shell does not run the line:\n${this.screen}`)
    return found.split('\n')
  }

  /** Waits until the terminal shows a text after some keys, and clears the line. */
  async shows(keys: string, text: RegExp): Promise<void> {
    this.#child.stdin!.write(keys)
    for (const end = Date.now() + DEADLINE; !text.test(this.screen); await pause(20))
      if (Date.now() > end) throw new Error(`the shell does not show ${text}:\n${this.screen}`)
    this.#child.stdin!.write(CLEAR)
  }

  /** Returns the text of a file that the shell writes; undefined if it is not written, or has another text, in time. */
  async #written(file: string, milliseconds: number, wanted?: string): Promise<string | undefined> {
    for (const end = Date.now() + milliseconds; Date.now() < end; await pause(10)) {
      const text = existsSync(file) ? readFileSync(file, 'utf8').replace(/\n$/, '') : undefined
      if (text !== undefined && (wanted === undefined || text === wanted)) return text
    }
    return undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL')
  }
}

const START: Readonly<
  Record<InteractiveShell, (home: string, file: string) => { command: string; configuration: string }>
> = {
  bash: home => ({ command: `bash --noprofile --rcfile ${home}/rc -i`, configuration: 'rc' }),
  zsh: () => ({ command: 'zsh -i', configuration: '.zshrc' }),
  fish: () => ({ command: 'fish -i', configuration: '.config/fish/config.fish' }),
}

const LOAD: Readonly<Record<InteractiveShell, string>> = {
  bash: 'eval "$(devctl completion bash)"',
  zsh: 'autoload -U compinit && compinit -u\nsource <(devctl completion zsh)',
  fish: 'devctl completion fish | source',
}

const CONFIGURATIONS: Readonly<Record<InteractiveShell, (file: string) => string>> = {
  bash: file => `_dump() { printf '%s' "$READLINE_LINE" > ${file}.new; mv ${file}.new ${file}; }
bind -x '"\\C-x\\C-o": _dump'
`,
  zsh: file => `_dump() { print -rn -- "$BUFFER" > ${file}.new; mv ${file}.new ${file}; }
zle -N _dump
bindkey '^X^O' _dump
bindkey '^U' kill-whole-line
`,
  fish: file => `function _dump; commandline > ${file}.new; mv ${file}.new ${file}; end
bind \\cx\\co _dump
bind \\cu kill-whole-line
`,
}
