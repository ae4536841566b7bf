import { isWholeValue, Masker } from './masker.ts'
import { isMeasure, isSwitch, isVariableWithSecret } from './secret-names.ts'

/** The placeholder for a secret. */
const MASK = '***'
/** Fewer characters are found everywhere. */
const SHORTEST = 4

/**
 * Words that secrets are set to while nobody cares. They are in messages, names of images and
 * addresses too: masking them there would hide those, and nothing that is not known.
 */
const COMMON = new Set(
  `admin administrator app apps application changeme change_me data database default demo dev development docker elastic example foobar grafana
guest hello host http https image keycloak letmein local localhost main mariadb master minio minioadmin mongo mongodb mysql name node none
null oracle pass passw0rd password password1 pod postgres postgresql prod production public qwerty rabbitmq redis root sample secret secrets
server service staging system temp test tests testing token undefined user username value web welcome wordpress`.split(
    /\s+/,
  ),
)

/**
 * The secret values that are known to a run, and what becomes of a text that leaves the process
 * (ARCHITECTURE.md, "Secrets"). A value is masked wherever it stands, also encoded, unless it is so
 * short or common that the text would be blotted out: then only a value that is nothing else is
 * masked (`maskValue`). A short word, which may be a part of names and addresses too, is masked
 * where it is all of a value; what goes to a repository has it masked everywhere (`strictMasker`).
 */
export class KnownSecrets {
  readonly #values = new Set<string>()
  /** Values as a whole that hold a secret which is too short to be looked for. */
  readonly #phrases = new Set<string>()
  readonly #names = new Set<string>()
  #masker: Masker | undefined
  #strictMasker: Masker | undefined

  constructor(values: Iterable<string> = []) {
    this.add(values)
  }

  /** Enters values; from now on they are masked. */
  add(values: Iterable<string>): void {
    for (const value of values)
      if (value !== '' && !this.#values.has(value)) {
        this.#values.add(value)
        this.#forget()
      }
  }

  /** Enters the values of variables whose names say that they are secret. */
  addVariables(variables: Readonly<Record<string, string | undefined>>): void {
    this.add(secretValues(variables))
  }

  /** Enters values that have a secret in them: they are masked where they are all of a value. */
  addPhrases(phrases: Iterable<string>): void {
    for (const phrase of phrases) if (phrase !== '') this.#phrases.add(phrase)
  }

  /**
   * Names that messages cannot do without (services, images): a secret that is the same is masked
   * by its place alone.
   */
  spare(names: Iterable<string>): void {
    for (const name of names) {
      this.#names.add(name)
      if (this.#values.has(name)) this.#forget()
    }
  }

  /** The values that are looked for in texts, for who masks a stream. */
  get distinct(): readonly string[] {
    return [...this.#values].filter(value => isDistinct(value, this.#names))
  }

  /** For what people read: a short word is masked where it is all of a value. */
  get masker(): Masker {
    if (this.#masker) return this.#masker
    const [others, words] = this.#split(value => isPlainWord(value) || isNumberedWord(value))
    this.#masker = new Masker(others, words, isWholeValue)
    return this.#masker
  }

  /** For what is written to a repository, or kept where others read it: a short word is masked also within a name. */
  get strictMasker(): Masker {
    this.#strictMasker ??= new Masker(...this.#split(isPlainWord))
    return this.#strictMasker
  }

  #split(isWord: (value: string) => boolean): [readonly string[], readonly string[]] {
    const distinct = this.distinct
    return [distinct.filter(value => !isWord(value)), distinct.filter(isWord)]
  }

  #forget(): void {
    this.#masker = undefined
    this.#strictMasker = undefined
  }

  /** A text without the secrets in it. */
  mask(text: string): string {
    return this.masker.mask(text)
  }

  /** A text for a repository, or that is kept where others read it, without the secrets in it. */
  maskStrictly(text: string): string {
    return this.strictMasker.mask(text)
  }

  /**
   * One value of an object without the secrets in it: as `mask` does it, and also where it is a
   * short or common secret and nothing else.
   */
  maskValue(text: string): string {
    return this.#isValue(text) ? MASK : this.mask(text)
  }

  /** Masks values by the strict rule, for what is kept where others read it. */
  get strict(): Pick<KnownSecrets, 'maskValue'> {
    return { maskValue: text => (this.#isValue(text) ? MASK : this.maskStrictly(text)) }
  }

  #isValue(text: string): boolean {
    return this.#values.has(text) || this.#phrases.has(text)
  }
}

const isPlainWord = (value: string) => /^[A-Za-z]{4,7}$/.test(value)
/** `acme2`, as names are numbered. */
const isNumberedWord = (value: string) => value.length <= 7 && /^[a-z]{3,}\d{1,2}$/.test(value)

/** The values of the variables whose names say that they are secret. */
export function secretValues(variables: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(variables).flatMap(([name, value]) =>
    value !== undefined && isVariableWithSecret(name, value) ? [value] : [],
  )
}

/**
 * True if a value can be distinguished from the words around it. Numbers of five digits are ports,
 * years and counts.
 */
function isDistinct(value: string, names: ReadonlySet<string>): boolean {
  const text = value.trim()
  if (text.length < SHORTEST || isSwitch(text) || names.has(text) || COMMON.has(text.toLowerCase())) return false
  return text.length > 5 || !isMeasure(text)
}
