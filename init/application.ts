/** Guessed value, with its source for the comment in the manifest. */
export interface Guess<Value> {
  readonly value: Value
  /** Source of the value, such as `` `engines` in package.json ``; absent for a default of devctl. */
  readonly from?: string
}

/** Facts found about an application in a folder. */
export interface ProjectApplication {
  /** Path relative to the project's folder; `.` for that folder itself. */
  readonly folder: string
  /** Description for users, such as `Node.js, Express`. */
  readonly title: string
  readonly language: Language
  /** File by which the application was recognized. */
  readonly marker: string
  /** Image with the tools to build and run the application. */
  readonly image: Guess<string>
  /** Commands that run the application during development; the first is proposed. */
  readonly commands: readonly Guess<string>[]
  readonly port?: Guess<number>
  readonly debugger?: Debugger
  /** Folders of the image in which package managers store downloads. */
  readonly caches: readonly string[]
  /** Lines of the ignore file, for files that are generated again in the container. */
  readonly ignores: readonly string[]
  /** Working directory in the container, which contains the files of the application. */
  readonly workdir: Guess<string>
}

export type Language = 'node' | 'go' | 'python' | 'java' | 'ruby' | 'php' | 'dotnet' | 'rust'

export interface Debugger {
  readonly port: number
  /**
   * Condition, as text, under which a debugger can connect to the program or, with `connects`, under which the program
   * connects to the debugger.
   */
  readonly hint: string
  /** True if the program connects to the laptop, instead of the laptop to the program. */
  readonly connects?: true
}

/** Facts that depend on the language. The other facts come from the Dockerfile, or are the same for all languages. */
export type Recognised = Omit<ProjectApplication, 'folder' | 'workdir' | 'language'>
