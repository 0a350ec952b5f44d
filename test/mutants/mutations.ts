// The faults that can be planted in a source file: guards removed, conditions negated, boundaries shifted, also in SQL.
// Pure: it reads text and returns changed text.
import { hash } from 'node:crypto'
import ts from 'typescript'

export interface Mutation {
  readonly line: number
  /** The line without and with the fault. */
  readonly code: string
  readonly mutant: string
  /** The whole file with the fault. */
  readonly text: string
}

interface Edit {
  readonly start: number
  readonly end: number
  readonly after: string
}

const OPERATORS: Partial<Record<ts.SyntaxKind, string>> = {
  [ts.SyntaxKind.AmpersandAmpersandToken]: '||',
  [ts.SyntaxKind.BarBarToken]: '&&',
  [ts.SyntaxKind.LessThanToken]: '<=',
  [ts.SyntaxKind.LessThanEqualsToken]: '<',
  [ts.SyntaxKind.GreaterThanToken]: '>=',
  [ts.SyntaxKind.GreaterThanEqualsToken]: '>',
  [ts.SyntaxKind.EqualsEqualsEqualsToken]: '!==',
  [ts.SyntaxKind.ExclamationEqualsEqualsToken]: '===',
}

const SQL_FAULTS: readonly [find: RegExp, after: string][] = [
  [/ and (?!not )/g, ' or '],
  [/<=/g, '<'],
  [/>=/g, '>'],
  [/not exists/g, 'exists'],
  [/ is not null/g, ' is null'],
  [/ desc\b/g, ''],
]

/** In a stable order that does not follow the order of the lines: the first ones are a sample of the whole file. */
export function findMutations(file: string, text: string): Mutation[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const edits: Edit[] = []
  const visit = (node: ts.Node): void => {
    edits.push(...editsOf(node, text))
    node.forEachChild(visit)
  }
  visit(source)
  const mutations = edits.map(({ start, end, after }) => {
    const { line } = source.getLineAndCharacterOfPosition(start)
    const mutated = text.slice(0, start) + after + text.slice(end)
    return { line: line + 1, code: readLine(text, line), mutant: readLine(mutated, line), text: mutated }
  })
  return shuffle(mutations)
}

const readLine = (text: string, line: number): string => (text.split('\n')[line] ?? '').trim()

/** By a digest of the position, so that the order outlives a change of names. */
const shuffle = (mutations: readonly Mutation[]): Mutation[] =>
  mutations
    .map((mutation, i) => ({ mutation, order: hash('sha256', String(i)) }))
    .toSorted((a, b) => (a.order < b.order ? -1 : 1))
    .map(({ mutation }) => mutation)

function editsOf(node: ts.Node, text: string): Edit[] {
  if (ts.isIfStatement(node) && leavesFunction(node.thenStatement)) return [replaceNode(node.expression, 'false')]
  if (ts.isBinaryExpression(node)) {
    const operator = OPERATORS[node.operatorToken.kind]
    return operator === undefined ? [] : [replaceNode(node.operatorToken, operator)]
  }
  if (ts.isConditionalExpression(node)) return [replaceNode(node.condition, `!(${node.condition.getText()})`)]
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
    return [replaceNode(node, node.operand.getText())]
  if (isSqlText(node)) return SQL_FAULTS.flatMap(([find, after]) => replaceMatches(node, text, find, after))
  return []
}

const replaceNode = (node: ts.Node, after: string): Edit => ({ start: node.getStart(), end: node.getEnd(), after })

/** A guard: nothing after the `if` statement runs. */
function leavesFunction(statement: ts.Statement): boolean {
  const [only] = ts.isBlock(statement) ? statement.statements.slice(-1) : [statement]
  return only !== undefined && (ts.isThrowStatement(only) || ts.isReturnStatement(only) || ts.isContinueStatement(only))
}

/** A piece of a template with the tag `sql`. */
function isSqlText(node: ts.Node): boolean {
  if (!ts.isTemplateMiddleOrTemplateTail(node) && !ts.isTemplateHead(node) && !ts.isNoSubstitutionTemplateLiteral(node))
    return false
  const template = ts.findAncestor(node, ts.isTaggedTemplateExpression)
  return template?.tag.getText() === 'sql'
}

const replaceMatches = (node: ts.Node, text: string, find: RegExp, after: string): Edit[] =>
  [...text.slice(node.getStart(), node.getEnd()).matchAll(find)].map((match) => {
    const start = node.getStart() + match.index
    return { start, end: start + match[0].length, after }
  })
