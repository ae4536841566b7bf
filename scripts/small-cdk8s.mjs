// A plugin of esbuild for programs that render manifests, and never make constructs: cdk8s and constructs are a fifth
// of the time that `devctl render` takes otherwise, and evaluating all classes of Kubernetes another one.
import { readFileSync } from 'node:fs'

export const smallCdk8s = {
  name: 'small cdk8s',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^(cdk8s|constructs)$/ }, ({ path }) => ({ path, namespace: 'bases', sideEffects: false }))
    onLoad({ filter: /./, namespace: 'bases' }, () => ({ contents: BASES }))
    onLoad({ filter: /cdk8s-plus-\d+\/lib\/imports\/k8s\.js$/ }, ({ path }) => ({ contents: asModule(path) }))
  },
}

/**
 * Source code of the module that replaces the packages `cdk8s` and `constructs`. It has only these base classes, so an
 * import of any other name makes the build fail.
 */
const BASES = ['ApiObject', 'Construct']
  .map(name => `export class ${name} { constructor() { throw new Error('this bundle has no constructs') } }`)
  .join('\n')

/**
 * Returns the classes of the Kubernetes objects as an ES module, so that a bundle only contains the classes that it
 * uses.
 */
function asModule(path) {
  const text = readFileSync(path, 'utf8')
  const kinds = new Map([...text.matchAll(/^(\w+)\.GVK = (\{[^}]*\});$/gm)].map(([, name, kind]) => [name, kind]))
  const changes = [
    [/^exports\.\w+ = exports\..* = void 0;$/gm, ''],
    [/^Object\.defineProperty\(exports, "__esModule".*$/gm, ''],
    [/^exports\.(\w+) = \1;$/gm, 'export { $1 };'],
    [/^const cdk8s_1 = require\("cdk8s"\);$/gm, "import { ApiObject } from 'cdk8s';"],
    [/\(\w+ = exports\.(\w+) \|\| \(exports\.\1 = \{\}\)\);/g, '($1 = {});'],
    // The classes are complete where they are declared, so that unused ones can be left out.
    [/^\w+\.GVK = \{[^}]*\};$/gm, ''],
    [
      /^class (\w+) extends cdk8s_1\.ApiObject \{$/gm,
      (_, name) => `class ${name} extends ApiObject { static GVK = ${kinds.get(name)};`,
    ],
    // Names for programs in other languages.
    [/^_\w+ = JSII_RTTI_SYMBOL_1;\n\w+\[_\w+\] = \{.*\};$/gm, ''],
    // Copies an object once, in place of once for each member.
    [
      /Object\.entries\(result\)\.reduce\(\(r, i\) => \(i\[1\] === undefined\) \? r : \(\{ \.\.\.r, \[i\[0\]\]: i\[1\] \}\), \{\}\)/g,
      'definedMembers(result)',
    ],
  ]
  const module = changes.reduce((result, [from, to]) => {
    if (!from.test(result)) throw new Error(`${path} has no ${from}: change small-cdk8s.mjs`)
    return result.replace(from, to)
  }, text)
  const [rest] = /\b(exports\b|cdk8s_1\b|require\().*/.exec(module) ?? []
  if (rest) throw new Error(`${path} has \`${rest}\`: change small-cdk8s.mjs`)
  return `${module}\n${definedMembers}`
}

function definedMembers(object) {
  const defined = {}
  for (const name in object) if (object[name] !== undefined) defined[name] = object[name]
  return defined
}
