/** Modes that are set in a new terminal; all others are unset. */
const INITIAL = new Set(['7', '25'])
/** Modes of the alternate screen. */
const FULL_SCREEN = ['47', '1047', '1049']
/** Maximum length of an incomplete sequence that is kept until the next part arrives. */
const LONGEST = 64

/**
 * Tracks the terminal modes (https://invisible-island.net/xterm/ctlseqs/ctlseqs.html, DECSET) that a program has
 * changed, so that they can be reset. A connection that breaks while an editor is open leaves the terminal with the
 * alternate screen, a hidden cursor, and mouse events that appear as input.
 */
export class TerminalModes {
  readonly #changed = new Set<string>()
  #isKeypadChanged = false
  #isStyled = false
  #rest = ''

  /** Reads the next part of the program's output to the terminal. */
  read(part: Uint8Array): void {
    const text = this.#rest + Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString('latin1')
    this.#rest = /\x1b(?:\[[?\d;]*)?$/.exec(text)?.[0].slice(0, LONGEST) ?? ''
    for (const [, modes, set, style, keypad] of text.matchAll(/\x1b(?:\[\?([\d;]+)([hl])|\[([\d;:]*)m|([=>]))/g)) {
      if (modes !== undefined) for (const mode of modes.split(';')) this.#set(mode, set === 'h')
      if (style !== undefined) this.#isStyled = style !== '' && style !== '0'
      if (keypad !== undefined) this.#isKeypadChanged = keypad === '='
    }
  }

  /** True while a program such as an editor uses the full screen: other output would overwrite its contents. */
  get isFullScreen(): boolean {
    return FULL_SCREEN.some(mode => this.#changed.has(mode))
  }

  /** Returns the sequences that restore the terminal; empty if nothing has changed. */
  reset(): string {
    const modes = [...this.#changed].map(mode => `\x1b[?${mode}${INITIAL.has(mode) ? 'h' : 'l'}`)
    const parts = [...modes, this.#isKeypadChanged ? '\x1b>' : '', this.#isStyled ? '\x1b[0m' : '']
    this.#changed.clear()
    this.#isKeypadChanged = false
    this.#isStyled = false
    return parts.join('')
  }

  #set(mode: string, isOn: boolean): void {
    if (isOn === INITIAL.has(mode)) this.#changed.delete(mode)
    else this.#changed.add(mode)
  }
}
