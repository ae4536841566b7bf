/** A guess, and what it was read from, for the comment beside it. */
export interface Guess<Value> {
  readonly value: Value
  /** Source of the value, such as `` `engines` in package.json ``; absent for a default of devctl. */
  readonly from?: string
}

/** Facts found about an application in a folder. */
export interface ProjectApplication {
  /** Relative to the project's folder; `.` for that folder itself. */
  readonly folder: string
  /** Description for users: `Node.js, Express`. */
  readonly title: string
  readonly language: Language
  /** The file that it was recognised by. */
  readonly marker: string
  /** An image with the tools to build and run it. */
  readonly image: Guess<string>
  /** Commands that run it during development; the first is proposed. */
  readonly commands: readonly Guess<string>[]
  readonly port?: Guess<number>
  readonly debugger?: Debugger
  /** Folders of that image in which package managers keep what they have downloaded. */
  readonly caches: readonly string[]
  /** Lines of the ignore file: what is made anew in the container. */
  readonly ignores: readonly string[]
  /** Folder of the files in the container. */
  readonly workdir: Guess<string>
}

export type Language = 'node' | 'go' | 'python' | 'java' | 'ruby' | 'php' | 'dotnet' | 'rust'

export interface Debugger {
  readonly port: number
  /** Condition as text under which the program accepts the debugger or, with `connects`, connects to it. */
  readonly hint: string
  /** The program connects to the laptop, not the other way round. */
  readonly connects?: true
}

/**
 * Facts that a language determines for a folder; the others come from the Dockerfile, or are the same for all
 * languages.
 */
export type Recognised = Omit<ProjectApplication, 'folder' | 'workdir' | 'language'>
