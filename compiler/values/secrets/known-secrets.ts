import { type MaskCondition, Masker } from './masker.ts'
import { isMeasure, isSwitch, isVariableWithSecret } from './secret-names.ts'
import { SparedNames } from './spared-names.ts'
import { isSecretByPlace, isValueNotName, isWholeValue } from './whole-value.ts'

/** Placeholder for a secret. */
const MASK = '***'
/** Minimum length of a masked secret. Shorter texts occur everywhere. */
const SHORTEST = 4

/**
 * Words that users choose as secrets when security does not matter. Messages, image names and addresses contain the
 * same words. Masking them would make those texts unreadable, and would protect only what everyone knows.
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
 * The secret values known to a run, with the rules for masking them in text that leaves the process
 * (compiler/DESIGN.md, "Secrets"). A value is masked wherever it occurs, including encoded forms, with two exceptions:
 * - A value that is so short or common that masking would make text unreadable is masked only if it is the entire text
 *   (`maskValue`).
 * - A short word, or a value that is also a name of the project, is masked only if it is an entire value within the
 *   text, because it may otherwise be part of a name or address. In text for a repository, short words are masked
 *   everywhere (`strictMasker`).
 */
export class KnownSecrets {
  readonly #values = new Set<string>()
  /** Values that contain a secret too short to search for. Such a value is masked only if it is the entire text. */
  readonly #phrases = new Set<string>()
  /** Names that manifests need. A secret that equals such a name is not masked in text for a repository. */
  readonly #ofObjects = new Set<string>()
  readonly #names = new SparedNames()
  readonly #maskers = new Map<MaskerKind, Masker>()

  constructor(values: Iterable<string> = []) {
    this.add(values)
  }

  /** Adds values, which are masked from now on. */
  add(values: Iterable<string>): void {
    for (const value of values)
      if (value !== '' && !this.#values.has(value)) {
        this.#values.add(value)
        this.#maskers.clear()
      }
  }

  /** Adds the values of variables whose names indicate a secret. */
  addVariables(variables: Readonly<Record<string, string | undefined>>): void {
    this.add(secretValues(variables))
  }

  /** Adds values that contain a secret. Each is masked only if it is the entire text (`maskValue`). */
  addPhrases(phrases: Iterable<string>): void {
    for (const phrase of phrases) if (phrase !== '') this.#phrases.add(phrase)
  }

  /**
   * Adds names of the project: hosts, images, users, paths. A secret that equals a name is masked only if it is an
   * entire value, and a name that contains a secret stays readable.
   */
  addNames(names: Iterable<string | undefined>): void {
    if (this.#names.add([...names].filter(name => name !== undefined))) this.#maskers.clear()
  }

  /**
   * Adds names that manifests need (services, volumes), like `addNames`. In addition, a secret that equals such a name
   * is not masked in text for a repository.
   */
  spare(names: Iterable<string>): void {
    const all = [...names]
    for (const name of all) this.#ofObjects.add(name)
    this.addNames(all)
    this.#maskers.clear()
  }

  /** Returns a copy that also knows the given values. */
  with(values: Iterable<string>): KnownSecrets {
    const copy = new KnownSecrets([...this.#values, ...values])
    copy.addPhrases(this.#phrases)
    copy.spare(this.#ofObjects)
    copy.addNames(this.#names.all)
    return copy
  }

  /**
   * Returns the masker for devctl's messages. Masks a secret that equals a name of the project only where the context
   * shows that the text is a secret value.
   */
  get masker(): Masker {
    return this.#masker('messages', () => this.#forReaders(isSecretByPlace))
  }

  /**
   * Returns the masker for the output of programs. Masks a secret that equals a name of the project only where it is an
   * entire value and is not called a name.
   */
  get outputMasker(): Masker {
    return this.#masker('output', () => this.#forReaders(isValueNotName))
  }

  /**
   * Returns the masker for texts that are written to a repository. Masks short words even as parts of longer names, but
   * no secret that equals a name that manifests need.
   */
  get strictMasker(): Masker {
    return this.#masker('repository', () => {
      const values = this.#distinct.filter(value => !this.#ofObjects.has(value.trim()))
      return new Masker(values, { words: new Set(values.filter(isPlainWord)) })
    })
  }

  /**
   * Returns the masker for texts that are stored where other users can read them. Masks like `strictMasker`. In
   * addition, masks a secret that equals a name that manifests need, but only where it is an entire value.
   */
  get #keptMasker(): Masker {
    return this.#masker('kept', () => {
      const isName = (form: string) => this.#ofObjects.has(form)
      const words = new Set(this.#distinct.filter(isPlainWord))
      return new Masker(this.#distinct, { words, conditionOf: form => (isName(form) ? isWholeValue : undefined) })
    })
  }

  /**
   * Creates a masker for text that people read. Masks a secret that equals a name of the project only at positions for
   * which `isValue` returns true.
   */
  #forReaders(isValue: MaskCondition): Masker {
    const conditionOf = (form: string): MaskCondition | undefined => {
      const ofNames = this.#names.conditionOf(form, isValue)
      if (!isShortWord(form) || this.#names.has(form)) return ofNames
      return (...at) => isWholeValue(...at) && (ofNames?.(...at) ?? true)
    }
    return new Masker(this.#distinct, { words: new Set(this.#distinct.filter(isShortWord)), conditionOf })
  }

  #masker(kind: MaskerKind, make: () => Masker): Masker {
    const masker = this.#maskers.get(kind) ?? make()
    this.#maskers.set(kind, masker)
    return masker
  }

  /** Returns the values that are masked within texts: all except values that are too short or too common. */
  get #distinct(): readonly string[] {
    return [...this.#values].filter(isDistinct)
  }

  /** Returns a devctl message with its secrets masked. */
  mask(text: string): string {
    return this.masker.mask(text)
  }

  /** Returns the output of a program with its secrets masked. */
  maskOutput(text: string): string {
    return this.outputMasker.mask(text)
  }

  /** Masks the secrets in a text that will be written to a repository. */
  maskStrictly(text: string): string {
    return this.strictMasker.mask(text)
  }

  /** Returns a text that is stored where other users can read it, with its secrets masked. */
  maskKept(text: string): string {
    return this.#keptMasker.mask(text)
  }

  /**
   * Returns a value of an object with its secrets masked, as `maskOutput` does. A value that is a secret as a whole is
   * masked even if the secret is short or common.
   */
  maskValue(text: string): string {
    return this.#isValue(text) ? MASK : this.maskOutput(text)
  }

  /**
   * Returns an object whose `maskValue` masks like `maskKept`, for values that are stored where other users can read
   * them. A value that is a secret as a whole is masked even if the secret is short or common.
   */
  get strict(): Pick<KnownSecrets, 'maskValue'> {
    return { maskValue: text => (this.#isValue(text) ? MASK : this.maskKept(text)) }
  }

  #isValue(text: string): boolean {
    return this.#values.has(text) || this.#phrases.has(text)
  }
}

/**
 * The kind of text that a masker is for: devctl's messages, the output of programs, text for a repository, or text that
 * is stored where other users can read it.
 */
type MaskerKind = 'messages' | 'output' | 'repository' | 'kept'

const isPlainWord = (value: string) => /^[A-Za-z]{4,7}$/.test(value)
/** True for a plain word, and for a word such as `acme2`, because names are often numbered like this. */
const isShortWord = (value: string) => isPlainWord(value) || (value.length <= 7 && /^[a-z]{3,}\d{1,2}$/.test(value))

/** Returns the values of the variables whose names indicate a secret. */
export function secretValues(variables: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(variables).flatMap(([name, value]) =>
    value !== undefined && isVariableWithSecret(name, value) ? [value] : [],
  )
}

/**
 * Returns true if a value differs enough from ordinary words to be searched for in texts. Numbers of up to five digits
 * are usually ports, years or counts.
 */
function isDistinct(value: string): boolean {
  const text = value.trim()
  if (text.length < SHORTEST || isSwitch(text) || COMMON.has(text.toLowerCase())) return false
  return text.length > 5 || !isMeasure(text)
}
