import { basename, join, resolve } from 'node:path/posix'
import { parseGlob } from '../glob.ts'
import { dockerIgnore, withGoSets } from '../images/ignore-file.ts'

/** A path that a COPY or ADD instruction copies from the build context into an image. */
export interface CopiedPath {
  /** Path relative to the context, without leading or trailing slashes; empty for the entire context. May be a glob. */
  readonly source: string
  /** Absolute path in the image. */
  readonly target: string
  /** True if files are copied into the folder `target`, rather than to the file `target`. */
  readonly intoFolder: boolean
  /** True for `--parents`, which also creates the parent folders of the source in the image. */
  readonly parents: boolean
  /** Patterns of `--exclude`, for files that are not copied. */
  readonly exclude: readonly string[]
}

/** A COPY or ADD instruction with its variables expanded. */
export interface CopyInstruction {
  readonly name: 'COPY' | 'ADD'
  readonly sources: readonly string[]
  /** Target as written; `resolveTarget` resolves it against the working directory. */
  readonly target: string
  /** Value of `--from`. */
  readonly from?: string
  readonly parents: boolean
  readonly exclude: readonly string[]
}

/**
 * Parses the arguments of COPY or ADD. Returns undefined for here-documents and if an argument uses an unknown
 * variable, because the result of the instruction is then not known.
 */
export function readCopy(name: 'COPY' | 'ADD', words: readonly (string | undefined)[]): CopyInstruction | undefined {
  const known = words.filter(word => word !== undefined)
  if (known.length < words.length) return undefined
  const flags = known.filter(word => word.startsWith('--'))
  const paths = known.filter(word => !word.startsWith('--'))
  if (paths.length < 2 || paths.some(path => path.startsWith('<<'))) return undefined
  const valuesOf = (flag: string) =>
    flags.filter(word => word.startsWith(`${flag}=`)).map(word => word.slice(flag.length + 1))
  const from = valuesOf('--from').at(-1)
  return {
    name,
    sources: paths.slice(0, -1),
    target: paths.at(-1)!,
    ...(from !== undefined && { from }),
    parents: flags.includes('--parents') || valuesOf('--parents').includes('true'),
    exclude: valuesOf('--exclude'),
  }
}

/** Returns the paths that a copy from the context adds to an image. `target` is absolute. */
export function copiedFromContext(copy: CopyInstruction, target: string): readonly CopiedPath[] {
  const { name, sources, parents, exclude } = copy
  return (
    sources
      // ADD downloads URLs and unpacks archives, so its result differs from the source.
      .filter(
        source => name === 'COPY' || !(/^[a-z+]+:\/\/|^git@/.test(source) || /\.(tar|tgz|t?[bgx]z2?|zst)/.test(source)),
      )
      .map(source => ({
        source: resolve('/', source).slice(1),
        target,
        intoFolder: intoFolder(copy),
        parents,
        exclude,
      }))
  )
}

/**
 * Returns the paths of the build context that an image gets with a copy from another stage. `stage` has the context
 * paths in the other stage.
 */
export function copiedFromStage(
  copy: CopyInstruction,
  target: string,
  stage: readonly CopiedPath[],
): readonly CopiedPath[] {
  return copy.sources.flatMap(source => {
    const from = resolve('/', source)
    return stage.flatMap((copied): readonly CopiedPath[] => {
      const inside = below(copied.target, from)
      if (inside !== undefined) return [{ ...copied, target: join(target, inside) }]
      const part = below(from, copied.target)
      if (part === undefined || isGlob(copied.source) || copied.parents) return []
      return [{ ...copied, source: join(copied.source, part), target, intoFolder: intoFolder(copy) }]
    })
  })
}

const intoFolder = ({ sources, target }: CopyInstruction): boolean => sources.length > 1 || /(^|\/)\.?$/.test(target)

/** Returns true if an image contains a context path at `target`. The paths have the form described in `CopiedPath`. */
export function holdsCopy(copies: readonly CopiedPath[], path: string, isFolder: boolean, target: string): boolean {
  return copies.some(copied => placesOf(copied, path, isFolder).some(place => resolve(place) === target))
}

/** Returns the paths that a context path is copied to. */
function placesOf(copied: CopiedPath, path: string, isFolder: boolean): readonly string[] {
  const { source, target, parents, exclude, intoFolder: into } = copied
  if (exclude.length > 0 && dockerIgnore(exclude.join('\n'))(path)) return []
  return upwards(path)
    .filter(one => (isGlob(source) ? one !== '' && parseGlob(withGoSets(source)).test(one) : one === source))
    .map(one => {
      if (parents) return join(target, path)
      const isFile = one === path && !isFolder
      return isFile ? (into ? join(target, basename(path)) : target) : join(target, path.slice(one.length))
    })
}

/** Returns a path, its parent folders, and the empty path, which stands for the context. */
function upwards(path: string): readonly string[] {
  if (path === '') return ['']
  const parts = path.split('/')
  return ['', ...parts.map((_, index) => parts.slice(0, index + 1).join('/'))]
}

/** Returns a path relative to a folder; undefined if the path is not in the folder. */
function below(path: string, folder: string): string | undefined {
  if (path === folder) return ''
  const start = folder === '/' ? '/' : `${folder}/`
  return path.startsWith(start) ? path.slice(start.length) : undefined
}

const isGlob = (path: string): boolean => /[*?[]/.test(path)
