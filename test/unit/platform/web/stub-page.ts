import { type ComponentChild, type FunctionComponent, h, render } from 'preact'
import { LocationProvider, Route, Router } from 'preact-iso/router'
import { onTestFinished, vi } from 'vitest'
import { info, isExpired, isOffline, me } from '../../../../platform/web/state/session.ts'

/** A node of a document without layout, with as much of the DOM as Preact and the pages use. */
export class StubNode extends EventTarget {
  readonly nodeType: number
  readonly localName: string
  readonly childNodes: StubNode[] = []
  readonly attributes: Record<string, unknown> = {}
  readonly style = { setProperty() {} }
  readonly dataset = {}
  readonly namespaceURI = 'http://www.w3.org/1999/xhtml'
  readonly isConnected = true
  data = ''
  parentNode: StubNode | null = null

  constructor(nodeType: number, localName: string) {
    super()
    this.nodeType = nodeType
    this.localName = localName
  }

  get nodeName(): string {
    return this.localName
  }
  get ownerDocument(): Document {
    return document
  }
  get firstChild(): StubNode | null {
    return this.childNodes[0] ?? null
  }
  get nextSibling(): StubNode | null {
    const all = this.parentNode?.childNodes ?? []
    return all[all.indexOf(this) + 1] ?? null
  }
  /** All text below this node. */
  get text(): string {
    return this.nodeType === 3 ? this.data : this.childNodes.map(one => one.text).join(' ')
  }

  insertBefore(child: StubNode, before: StubNode | null): StubNode {
    child.remove()
    const index = before ? this.childNodes.indexOf(before) : this.childNodes.length
    this.childNodes.splice(index, 0, child)
    child.parentNode = this
    return child
  }
  appendChild(child: StubNode): StubNode {
    return this.insertBefore(child, null)
  }
  append(child: StubNode): void {
    this.insertBefore(child, null)
  }
  removeChild(child: StubNode): StubNode {
    child.remove()
    return child
  }
  remove(): void {
    const siblings = this.parentNode?.childNodes
    siblings?.splice(siblings.indexOf(this), 1)
    this.parentNode = null
  }
  contains(other: StubNode | null): boolean {
    for (let one = other; one; one = one.parentNode) if (one === this) return true
    return false
  }
  setAttribute(name: string, value: unknown): void {
    this.attributes[name] = value
  }
  removeAttribute(name: string): void {
    delete this.attributes[name]
  }
  getAttribute(name: string): unknown {
    return this.attributes[name] ?? null
  }
  getBoundingClientRect() {
    return { top: 0 }
  }
  scrollIntoView(): void {}
  focus(): void {}
  click(): void {}
  showModal(): void {}
  close(): void {}

  /** Returns all elements with this name below this node. */
  all(localName: string): readonly StubNode[] {
    return this.childNodes.flatMap(one => [...(one.localName === localName ? [one] : []), ...one.all(localName)])
  }
  /** Returns the button with this text, and fails if there is none. */
  button(text: string): StubNode {
    const found = this.all('button').find(one => one.text.trim() === text)
    if (!found) throw new Error(`there is no button ${text} in: ${this.text}`)
    return found
  }
}

export interface StubPage {
  readonly root: StubNode
  /** Renders content on the page in place of its previous content. */
  show(content: ComponentChild): void
  /** Advances the time, and lets the page work through what has arrived. */
  pass(milliseconds: number): Promise<void>
  /** Hides the page and shows it again, like a user who looks at another tab. */
  lookAway(): Promise<void>
}

/** Answers a request to the platform; `signal` ends it. */
export type Answer = (path: string, init: RequestInit) => Response | Promise<Response>

/**
 * Opens a page in a stub of a browser, whose requests `answer` answers. Time is fake: it only passes with `pass`. After
 * the test, everything is restored.
 */
export function openPage(answer: Answer, address = 'https://platform.example.com/'): StubPage {
  vi.useFakeTimers()
  const root = new StubNode(1, 'div')
  const page = stubDocument()
  stubWindow(new URL(address))
  vi.stubGlobal('fetch', async (path: string, init: RequestInit) => answer(path, init))
  const pass = async (milliseconds: number) => {
    await vi.advanceTimersByTimeAsync(milliseconds)
    for (let turn = 0; turn < 10; turn++) await vi.advanceTimersByTimeAsync(10)
  }
  const show = (content: ComponentChild) => render(content, root as unknown as Element) // as much as Preact needs
  const turn = async (visibilityState: 'hidden' | 'visible') => {
    Object.assign(page, { visibilityState })
    page.dispatchEvent(new Event('visibilitychange'))
    await pass(0)
  }
  onTestFinished(async () => {
    show(null)
    await pass(0)
    vi.useRealTimers()
    vi.unstubAllGlobals()
    me.value = undefined
    info.value = undefined
    isExpired.value = false
    isOffline.value = false
  })
  return {
    root,
    show,
    pass,
    lookAway: async () => {
      await turn('hidden')
      await turn('visible')
    },
  }
}

/** Returns a page of the UI as the router shows it at the addresses of `path`, next to other content. */
export const routed = (path: string, component: FunctionComponent, ...beside: ComponentChild[]): ComponentChild =>
  h(LocationProvider, {}, ...beside, h(Router as FunctionComponent, {}, h(Route<object>, { path, component })))

function stubDocument(): StubNode {
  const page = new StubNode(9, '#document')
  Object.assign(page, {
    visibilityState: 'visible',
    title: '',
    activeElement: null,
    body: new StubNode(1, 'body'),
    documentElement: new StubNode(1, 'html'),
    createElement: (name: string) => new StubNode(1, name),
    createElementNS: (_: string, name: string) => new StubNode(1, name),
    createTextNode: (data: string) => Object.assign(new StubNode(3, '#text'), { data }),
  })
  vi.stubGlobal('document', page)
  vi.stubGlobal('HTMLElement', StubNode)
  return page
}

function stubWindow({ origin, host, pathname, search, hash, href }: URL): void {
  const target = new EventTarget()
  for (const name of ['addEventListener', 'removeEventListener', 'dispatchEvent'] as const)
    vi.stubGlobal(name, target[name].bind(target))
  const go = () => {}
  const location = { origin, host, pathname, search, hash, href, reload: go, assign: go, replace: go }
  vi.stubGlobal('location', location)
  vi.stubGlobal('history', { pushState: go, replaceState: go })
  vi.stubGlobal('localStorage', stubStorage())
  vi.stubGlobal('sessionStorage', stubStorage())
  vi.stubGlobal('innerWidth', 1200)
  vi.stubGlobal('innerHeight', 800)
  vi.stubGlobal('scrollTo', go)
}

function stubStorage() {
  const kept = new Map<string, string>()
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  }
}

/** Returns the response with a value as JSON. */
export const json = (value: unknown, status = 200): Response => new Response(JSON.stringify(value), { status })

/** Returns the response of a stream with these events, which stays open until the request is aborted. */
export function openStream(events: readonly unknown[], { signal }: RequestInit): Response {
  const text = events.map((data, index) => `id: ${index + 1}\ndata: ${JSON.stringify(data)}\n\n`).join('')
  return new Response(
    new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(text))
        signal?.addEventListener('abort', () => controller.error(signal.reason))
      },
    }),
  )
}
