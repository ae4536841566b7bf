import { join } from 'node:path'
import { changeFile, readText } from '../../adapters/files/locked-file.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { Secret } from './secret.ts'

/** What devctl remembers of a context. What is not set is decided when it is used. */
export interface StoredContext {
  /** The name of a Kubernetes context, or the URL of a platform. */
  readonly name: string
  readonly token?: Secret
  readonly namespace?: string
  /** `tcp://HOST:PORT`, `unix://PATH` or `docker`. */
  readonly builder?: string
  /** Host and path, without a scheme. */
  readonly registry?: string
  /** Under which public routes get their hosts. */
  readonly domain?: string
}

/** What devctl remembers: the contexts, and which of them is the current one. */
export interface StoredContexts {
  readonly current: string | undefined
  readonly contexts: ReadonlyMap<string, StoredContext>
}

/** Whether a context is a platform and none of Kubernetes: its name is a URL. */
export function isPlatform(name: string): boolean {
  return /^https?:\/\//i.test(name)
}

/** The contexts of `home`, which is devctl's own folder; none when there is no file. Throws a UserError for a file that is broken. */
export function readContexts(home: string): StoredContexts {
  const path = fileOf(home)
  try {
    const { current, contexts } = parse(readText(path), path)
    return {
      current,
      contexts: new Map(Object.entries(contexts).map(([name, record]) => [name, toContext(name, record)])),
    }
  } catch (error) {
    if (error instanceof UserError) throw error
    const { code } = error as NodeJS.ErrnoException // only node:fs throws here
    throw new UserError(`cannot read \`${path}\`: ${code}`, { hint: 'check the rights of the file', cause: error })
  }
}

/** Remembers these fields of a context, beside those that it has already, and forgets those that are empty; `isCurrent` makes it the current one. Throws a UserError. */
export function saveContext(home: string, { name, ...fields }: StoredContext, isCurrent: boolean): Promise<void> {
  return change(home, content => {
    const before = Object.hasOwn(content.contexts, name) ? content.contexts[name] : {}
    const all = Object.entries({ ...before, ...reveal(fields) })
    const record = Object.fromEntries(all.filter(([, value]) => value !== ''))
    return { ...content, ...(isCurrent && { current: name }), contexts: { ...content.contexts, [name]: record } }
  })
}

/** Forgets a context, also as the current one. Gives false when it was not known. Throws a UserError. */
export async function deleteContext(home: string, name: string): Promise<boolean> {
  let isKnown = false
  await change(home, ({ current, ...content }) => {
    isKnown = Object.hasOwn(content.contexts, name)
    const { [name]: _, ...contexts } = content.contexts
    return { ...content, ...(current !== name && current !== undefined && { current }), contexts }
  })
  return isKnown
}

/** The file as it is written. Keys that this version does not know stay as they are: a newer devctl wrote them. */
interface Content {
  readonly current?: string
  readonly contexts: Readonly<Record<string, Fields>>
  readonly [unknown: string]: unknown
}

type Fields = Readonly<Record<string, unknown>>

const fileOf = (home: string) => join(home, 'contexts.json')

function change(home: string, edit: (content: Content) => Content): Promise<void> {
  const path = fileOf(home)
  return changeFile(path, {
    shown: path,
    isPrivate: true,
    edit: text => `${JSON.stringify(edit(parse(text, path)), undefined, 2)}\n`,
  })
}

/** The messages of JSON.parse quote the text, which holds tokens: they are not passed on. */
function parse(text: string | undefined, path: string): Content {
  if (text === undefined) return { contexts: {} }
  const broken = (why: string) =>
    new UserError(`\`${path}\` is broken: ${why}`, {
      hint: 'correct it or remove it; `devctl context use NAME` makes a new one',
    })
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    throw broken('it is no JSON')
  }
  if (!isRecord(content)) throw broken('it is no JSON object')
  const { current, contexts = {}, ...unknown } = content
  if (current !== undefined && typeof current !== 'string') throw broken('`current` is no text')
  if (!isRecord(contexts)) throw broken('`contexts` is no JSON object')
  const records = Object.entries(contexts).map(([name, record]) => {
    if (!isRecord(record)) throw broken(`the context \`${name}\` is no JSON object`)
    return [name, record] as const
  })
  return { ...unknown, ...(current !== undefined && { current }), contexts: Object.fromEntries(records) }
}

function toContext(name: string, { token, namespace, builder, registry, domain }: Fields): StoredContext {
  return {
    name,
    ...(isText(token) && { token: new Secret(token) }),
    ...(isText(namespace) && { namespace }),
    ...(isText(builder) && { builder }),
    ...(isText(registry) && { registry }),
    ...(isText(domain) && { domain }),
  }
}

/** The fields as they are written: the only place where a token leaves its Secret. */
function reveal({ token, ...fields }: Omit<StoredContext, 'name'>): Fields {
  return { ...fields, ...(token && { token: token.reveal() }) }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

const isRecord = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
