import { type MaskCondition, Masker } from './masker.ts'
import { isMeasure, isSwitch, isVariableWithSecret } from './secret-names.ts'
import { SparedNames } from './spared-names.ts'
import { isSecretByPlace, isValueNotName, isWholeValue } from './whole-value.ts'

/** The placeholder for a secret. */
const MASK = '***'
/** Fewer characters are found everywhere. */
const SHORTEST = 4

/**
 * Words that users choose as secrets when security does not matter. Messages, image names and addresses contain them
 * too: masking them there would hide those, and protect only what everyone knows.
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
 * masked (`maskValue`). A short word, which may be a part of names and addresses too, and a name of
 * the project are masked where they are all of a value. What goes to a repository has short words
 * masked everywhere (`strictMasker`).
 */
export class KnownSecrets {
  readonly #values = new Set<string>()
  /** Values as a whole that hold a secret which is too short to be looked for. */
  readonly #phrases = new Set<string>()
  /** Names that manifests cannot do without. */
  readonly #ofObjects = new Set<string>()
  readonly #names = new SparedNames()
  readonly #maskers = new Map<MaskerKind, Masker>()

  constructor(values: Iterable<string> = []) {
    this.add(values)
  }

  /** Enters values; from now on they are masked. */
  add(values: Iterable<string>): void {
    for (const value of values)
      if (value !== '' && !this.#values.has(value)) {
        this.#values.add(value)
        this.#maskers.clear()
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
   * Enters names of the project: hosts, images, users, paths. A secret that equals one is masked
   * where it is all of a value, and a name that contains one stays readable.
   */
  addNames(names: Iterable<string | undefined>): void {
    if (this.#names.add([...names].filter(name => name !== undefined))) this.#maskers.clear()
  }

  /**
   * Enters names that manifests cannot do without (services, volumes), as `addNames` does: a secret
   * that is the same is not looked for in what goes to a repository.
   */
  spare(names: Iterable<string>): void {
    const all = [...names]
    for (const name of all) this.#ofObjects.add(name)
    this.addNames(all)
    this.#maskers.clear()
  }

  /** Returns a copy that knows more values. */
  with(values: Iterable<string>): KnownSecrets {
    const copy = new KnownSecrets([...this.#values, ...values])
    copy.addPhrases(this.#phrases)
    copy.spare(this.#ofObjects)
    copy.addNames(this.#names.all)
    return copy
  }

  /** Masks messages of devctl: masks a name only if its context makes it a value. */
  get masker(): Masker {
    return this.#masker('messages', () => this.#forReaders(isSecretByPlace))
  }

  /** Masks what programs print: a name where it is all of a value. */
  get outputMasker(): Masker {
    return this.#masker('output', () => this.#forReaders(isValueNotName))
  }

  /** Masks texts that are written to a repository: a short word is masked also within a name. */
  get strictMasker(): Masker {
    return this.#masker('repository', () => {
      const values = this.#distinct.filter(value => !this.#ofObjects.has(value.trim()))
      return new Masker(values, { words: new Set(values.filter(isPlainWord)) })
    })
  }

  /** Masks what is kept where others read it: as `strictMasker`, and names where they are all of a value. */
  get #keptMasker(): Masker {
    return this.#masker('kept', () => {
      const isName = (form: string) => this.#ofObjects.has(form)
      const words = new Set(this.#distinct.filter(isPlainWord))
      return new Masker(this.#distinct, { words, conditionOf: form => (isName(form) ? isWholeValue : undefined) })
    })
  }

  /** Makes a masker for people: `isValue` says where a name is a value. */
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

  /** The values that are looked for in texts. */
  get #distinct(): readonly string[] {
    return [...this.#values].filter(isDistinct)
  }

  /** A message of devctl without the secrets in it. */
  mask(text: string): string {
    return this.masker.mask(text)
  }

  /** A text that a program has printed without the secrets in it. */
  maskOutput(text: string): string {
    return this.outputMasker.mask(text)
  }

  /** A text for a repository without the secrets in it. */
  maskStrictly(text: string): string {
    return this.strictMasker.mask(text)
  }

  /** A text that is kept where others read it, without the secrets in it. */
  maskKept(text: string): string {
    return this.#keptMasker.mask(text)
  }

  /**
   * Returns a value of an object with its secrets masked: as `maskOutput` does, and also if the whole value is a short
   * or common secret.
   */
  maskValue(text: string): string {
    return this.#isValue(text) ? MASK : this.maskOutput(text)
  }

  /** Masks values by the strict rule, for what is kept where others read it. */
  get strict(): Pick<KnownSecrets, 'maskValue'> {
    return { maskValue: text => (this.#isValue(text) ? MASK : this.maskKept(text)) }
  }

  #isValue(text: string): boolean {
    return this.#values.has(text) || this.#phrases.has(text)
  }
}

/** The uses of a masker. */
type MaskerKind = 'messages' | 'output' | 'repository' | 'kept'

const isPlainWord = (value: string) => /^[A-Za-z]{4,7}$/.test(value)
/** True for a plain word, and for `acme2`: names are numbered like this. */
const isShortWord = (value: string) => isPlainWord(value) || (value.length <= 7 && /^[a-z]{3,}\d{1,2}$/.test(value))

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
function isDistinct(value: string): boolean {
  const text = value.trim()
  if (text.length < SHORTEST || isSwitch(text) || COMMON.has(text.toLowerCase())) return false
  return text.length > 5 || !isMeasure(text)
}
