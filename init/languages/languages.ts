import type { Language, Recognised } from '../application.ts'
import type { ProjectFiles } from '../project-files.ts'
import { recogniseDotnet } from './dotnet.ts'
import { recogniseGo } from './go.ts'
import { recogniseJava } from './java.ts'
import { recogniseNode } from './node.ts'
import { recognisePhp } from './php.ts'
import { recognisePython } from './python.ts'
import { recogniseRuby } from './ruby.ts'
import { recogniseRust } from './rust.ts'

/**
 * Languages in the order in which their marker files are tried. A Rails or Laravel project has a `package.json` for its
 * assets in addition to its own marker, so a `package.json` without a development script is tried last.
 */
const LANGUAGES: readonly (readonly [Language, (files: ProjectFiles) => Recognised | undefined])[] = [
  ['node', recogniseNode],
  ['go', recogniseGo],
  ['python', recognisePython],
  ['java', recogniseJava],
  ['ruby', recogniseRuby],
  ['php', recognisePhp],
  ['dotnet', recogniseDotnet],
  ['rust', recogniseRust],
]

export const LANGUAGE_NAMES: readonly Language[] = LANGUAGES.map(([language]) => language)

/** Files that show that the main program is not the one in `package.json`. */
const STRONGER_THAN_PACKAGE_JSON = ['bin/rails', 'artisan', 'manage.py', 'go.mod', 'pom.xml', 'Cargo.toml']

/**
 * Recognizes the application in a folder by its marker files; undefined if the folder has no marker file of a supported
 * language. `only` restricts the search to one language.
 */
export function recognise(
  files: ProjectFiles,
  only?: Language,
): (Recognised & { readonly language: Language }) | undefined {
  const nodeIsForAssets = only === undefined && STRONGER_THAN_PACKAGE_JSON.some(path => files.has(path))
  const asked = LANGUAGES.filter(([language]) => only === undefined || language === only)
  const ordered = nodeIsForAssets ? [...asked.slice(1), ...asked.slice(0, 1)] : asked
  for (const [language, recogniseOne] of ordered) {
    const found = recogniseOne(files)
    if (found) return { ...found, language }
  }
  return undefined
}
