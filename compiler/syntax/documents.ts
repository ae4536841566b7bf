import { Composer, type Document, Lexer, type ParsedNode, Parser } from 'yaml'

/** What of the yaml package's lexer is needed here: it is private there, and its types do not show it. */
interface LexerInside {
  /** Columns that the next line of a value must be indented by. */
  indentNext: number
  parseFlowCollection(): Lexemes
  parseQuotedScalar(): Lexemes
}
type Lexemes = Generator<string, unknown, unknown>

/** Lexemes a file may have; one of 100,000 nodes has fewer. */
const MAX_LEXEMES = 1_500_000

/**
 * The documents of a YAML text, as the yaml package reads them in its failsafe schema (every scalar is text), except that lines of a quoted text or of
 * a `[…]` or `{…}` may be indented less than YAML wants, and a comment may follow a quote at once: the reference loader takes them, and files have them. `too large` when the text is more than
 * any Compose file.
 */
export function composeDocuments(text: string): readonly Document<ParsedNode>[] | 'too large' {
  const parser = new Parser()
  const composer = new Composer<ParsedNode>({
    schema: 'failsafe',
    version: '1.2',
    merge: false,
    uniqueKeys: false,
    keepSourceTokens: false,
    logLevel: 'silent',
  })
  const documents: Document<ParsedNode>[] = []
  let lexemes = 0
  for (const lexeme of lenientLexer().lex(text)) {
    if (++lexemes > MAX_LEXEMES) return 'too large'
    for (const token of parser.next(lexeme)) documents.push(...composer.next(token))
  }
  for (const token of parser.end()) documents.push(...composer.next(token))
  documents.push(...composer.end())
  for (const document of documents) document.errors = document.errors.filter(error => !NO_BLANK.test(error.message))
  return documents
}

/** `"80:80"#web`: a comment may follow a closing quote or bracket at once. */
const NO_BLANK = /^Comments must be separated/

function lenientLexer(): Lexer {
  const lexer = new Lexer()
  const inside = lexer as unknown as LexerInside // the two methods and the field are there, only declared private
  inside.parseFlowCollection = withoutIndent(inside, inside.parseFlowCollection)
  inside.parseQuotedScalar = withoutIndent(inside, inside.parseQuotedScalar)
  return lexer
}

/** The method, run as if nothing had to be indented. */
const withoutIndent = (lexer: LexerInside, method: () => Lexemes) =>
  function* (): Lexemes {
    const { indentNext } = lexer
    lexer.indentNext = 0
    const next = yield* method.call(lexer)
    lexer.indentNext = indentNext
    return next
  }
