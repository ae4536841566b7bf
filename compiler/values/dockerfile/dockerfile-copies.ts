import { basename, join, resolve } from 'node:path/posix'
import { parseGlob } from '../glob.ts'
import { dockerIgnore } from '../images/ignore-file.ts'

/** A path that a COPY or ADD copies from the build context into an image. */
export interface CopiedPath {
  /** Relative to the context, without slashes at its ends; empty for all of it. May be a glob. */
  readonly source: string
  /** Absolute path in the image. */
  readonly target: string
  /** Files go into `target`, they do not become it. */
  readonly intoFolder: boolean
  /** `--parents`: the folders of the source are made in the image, too. */
  readonly parents: boolean
  /** `--exclude`: patterns of what is not copied. */
  readonly exclude: readonly string[]
}

/** A COPY or ADD, variables in their place. */
export interface CopyInstruction {
  readonly name: 'COPY' | 'ADD'
  readonly sources: readonly string[]
  /** Target as written; `resolveTarget` knows the working directory. */
  readonly target: string
  /** `--from`. */
  readonly from?: string
  readonly parents: boolean
  readonly exclude: readonly string[]
}

/**
 * Reads the words after COPY or ADD. Undefined for what copies nothing that is known:
 * here-documents, and texts in which a variable is not known.
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

/** The paths that a copy from the context adds to an image; `target` is absolute. */
export function copiedFromContext(copy: CopyInstruction, target: string): readonly CopiedPath[] {
  const { name, sources, parents, exclude } = copy
  return (
    sources
      // ADD downloads URLs and unpacks archives, so the result differs from the source.
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
 * The paths that a copy from another stage adds to an image, of those the stage has from the
 * context.
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

/** True if an image holds a path of the context at `target`. Paths as in `CopiedPath`. */
export function holdsCopy(copies: readonly CopiedPath[], path: string, isFolder: boolean, target: string): boolean {
  return copies.some(copied => placesOf(copied, path, isFolder).some(place => resolve(place) === target))
}

/** Returns the paths to which a copy writes a path of the context. */
function placesOf(copied: CopiedPath, path: string, isFolder: boolean): readonly string[] {
  const { source, target, parents, exclude, intoFolder: into } = copied
  if (exclude.length > 0 && dockerIgnore(exclude.join('\n'))(path)) return []
  return upwards(path)
    .filter(one => (isGlob(source) ? one !== '' && parseGlob(source).test(one) : one === source))
    .map(one => {
      if (parents) return join(target, path)
      const isFile = one === path && !isFolder
      return isFile ? (into ? join(target, basename(path)) : target) : join(target, path.slice(one.length))
    })
}

/** The path itself, the folders around it, and the whole. */
function upwards(path: string): readonly string[] {
  if (path === '') return ['']
  const parts = path.split('/')
  return ['', ...parts.map((_, index) => parts.slice(0, index + 1).join('/'))]
}

/** The rest of a path within a folder; undefined where it is not in it. */
function below(path: string, folder: string): string | undefined {
  if (path === folder) return ''
  const start = folder === '/' ? '/' : `${folder}/`
  return path.startsWith(start) ? path.slice(start.length) : undefined
}

const isGlob = (path: string): boolean => /[*?[]/.test(path)
