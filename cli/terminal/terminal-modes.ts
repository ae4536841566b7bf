/** Modes that a terminal begins with; it begins without all others. */
const INITIAL = new Set(['7', '25'])
/** Modes of the alternate screen. */
const FULL_SCREEN = ['47', '1047', '1049']
/** The longest beginning of a sequence that is kept for the next part. */
const LONGEST = 64

/**
 * Knows which modes of a terminal (https://invisible-island.net/xterm/ctlseqs/ctlseqs.html, DECSET)
 * a program has changed: a connection that breaks while an editor is open leaves another screen, no
 * cursor, and a mouse that types.
 */
export class TerminalModes {
  readonly #changed = new Set<string>()
  #isKeypadChanged = false
  #isStyled = false
  #rest = ''

  /** Reads a part of what the program writes to the terminal. */
  read(part: Uint8Array): void {
    const text = this.#rest + Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString('latin1')
    this.#rest = /\x1b(?:\[[?\d;]*)?$/.exec(text)?.[0].slice(0, LONGEST) ?? ''
    for (const [, modes, set, style, keypad] of text.matchAll(/\x1b(?:\[\?([\d;]+)([hl])|\[([\d;:]*)m|([=>]))/g)) {
      if (modes !== undefined) for (const mode of modes.split(';')) this.#set(mode, set === 'h')
      if (style !== undefined) this.#isStyled = style !== '' && style !== '0'
      if (keypad !== undefined) this.#isKeypadChanged = keypad === '='
    }
  }

  /** True while a program has the whole screen, as editors do: what is printed would stand in its picture. */
  get isFullScreen(): boolean {
    return FULL_SCREEN.some(mode => this.#changed.has(mode))
  }

  /** The sequences that put the terminal back; empty when it is as it was. */
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
