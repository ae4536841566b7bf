/** A guess, and what it was read from, for the comment beside it. */
export interface Guess<Value> {
  readonly value: Value
  /** Such as `` `engines` in package.json ``; absent for what devctl proposes by itself. */
  readonly from?: string
}

/** What was found out about an application in a folder. */
export interface ProjectApplication {
  /** Relative to the project's folder; `.` for that folder itself. */
  readonly folder: string
  /** What it is, for people: `Node.js, Express`. */
  readonly title: string
  readonly language: Language
  /** The file that it was recognised by. */
  readonly marker: string
  /** An image with the tools to build and run it. */
  readonly image: Guess<string>
  /** What runs it during development; the first is proposed. */
  readonly commands: readonly Guess<string>[]
  readonly port?: Guess<number>
  readonly debugger?: Debugger
  /** Folders of that image in which package managers keep what they have downloaded. */
  readonly caches: readonly string[]
  /** Lines of the ignore file: what is made anew in the container. */
  readonly ignores: readonly string[]
  /** Where the files are in the container. */
  readonly workdir: Guess<string>
}

export type Language = 'node' | 'go' | 'python' | 'java' | 'ruby' | 'php' | 'dotnet' | 'rust'

export interface Debugger {
  readonly port: number
  /** What makes the program accept, or for `connects` seek, the debugger. */
  readonly hint: string
  /** The program connects to the laptop, not the other way round. */
  readonly connects?: true
}

/** What a language says about a folder; the rest comes from the Dockerfile, or is the same for all. */
export type Recognised = Omit<ProjectApplication, 'folder' | 'workdir' | 'language'>
