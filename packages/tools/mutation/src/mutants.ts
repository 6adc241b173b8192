import ts from 'typescript';
import type { Mutant, Probe } from './mutant.ts';
import { looksLikeSql, sqlChanges } from './sql.ts';

const SWAPPED: Readonly<Partial<Record<ts.SyntaxKind, readonly [operator: string, ...changed: string[]]>>> = {
  [ts.SyntaxKind.EqualsEqualsEqualsToken]: ['comparison', '!=='],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken]: ['comparison', '==='],
  [ts.SyntaxKind.EqualsEqualsToken]: ['comparison', '!='],
  [ts.SyntaxKind.ExclamationEqualsToken]: ['comparison', '=='],
  [ts.SyntaxKind.LessThanToken]: ['comparison', '<=', '>'],
  [ts.SyntaxKind.LessThanEqualsToken]: ['comparison', '<', '>'],
  [ts.SyntaxKind.GreaterThanToken]: ['comparison', '>=', '<'],
  [ts.SyntaxKind.GreaterThanEqualsToken]: ['comparison', '>', '<'],
  [ts.SyntaxKind.AmpersandAmpersandToken]: ['connective', '||'],
  [ts.SyntaxKind.BarBarToken]: ['connective', '&&'],
  [ts.SyntaxKind.PlusToken]: ['arithmetic', '-'],
  [ts.SyntaxKind.MinusToken]: ['arithmetic', '+'],
  [ts.SyntaxKind.AsteriskToken]: ['arithmetic', '/'],
  [ts.SyntaxKind.SlashToken]: ['arithmetic', '*'],
  [ts.SyntaxKind.PercentToken]: ['arithmetic', '*'],
  [ts.SyntaxKind.PlusEqualsToken]: ['arithmetic', '-='],
  [ts.SyntaxKind.MinusEqualsToken]: ['arithmetic', '+='],
};

const COMPARES_OR_COUNTS = new Set(['comparison', 'arithmetic']);
const DESCRIPTIVE = new Set(['help', 'description', 'summary', 'title', 'example', 'examples', 'message']);
const QUERY = new Set(['name', 'text', 'values']);
const DESCRIBES = new Set(['meta', 'describe', 'register']);

/** Every change of a source file that could be made by mistake. Types, imports, log lines, errors and descriptions
 *  stay. */
export const mutantsOf = (path: string, source: string): Mutant[] => {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.ES2022, true, scriptKind(path));
  const mutants: Mutant[] = [];

  const add = (operator: string, node: ts.Node, after: string, range = rangeOf(file, node)) => {
    mutants.push({
      operator,
      ...range,
      before: source.slice(range.start, range.end),
      after,
      line: file.getLineAndCharacterOfPosition(range.start).line + 1,
      probe: probeFor(file, node),
    });
  };

  const visit = (node: ts.Node): void => {
    if (isLeftAlone(node)) return;
    changesOf(file, node, add);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return mutants;
};

type Add = (operator: string, node: ts.Node, after: string, range?: Range) => void;
interface Range {
  readonly start: number;
  readonly end: number;
}

const changesOf = (file: ts.SourceFile, node: ts.Node, add: Add): void => {
  const text = (part: ts.Node) => part.getText(file);

  if (ts.isBinaryExpression(node)) {
    const [operator, ...changed] = SWAPPED[node.operatorToken.kind] ?? [];
    if (operator) for (const after of changed) add(operator, node, after, rangeOf(file, node.operatorToken));
    if (node.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken) {
      add('default', node, text(node.left));
      add('default', node, text(node.right));
    }
  }
  if (ts.isPrefixUnaryExpression(node)) {
    const isInBorder = node.operator === ts.SyntaxKind.MinusToken && ts.isNumericLiteral(node.operand);
    if (node.operator === ts.SyntaxKind.ExclamationToken) add('negation', node, text(node.operand));
    if (node.operator === ts.SyntaxKind.MinusToken && !isInBorder) add('negation', node, text(node.operand));
  }
  if (ts.isExpressionStatement(node)) {
    const call = ts.isAwaitExpression(node.expression) ? node.expression.expression : node.expression;
    if (ts.isCallExpression(call) && call.expression.kind !== ts.SyntaxKind.SuperKeyword) add('call', node, ';');
  }
  if (ts.isAwaitExpression(node)) {
    // Lint refuses a floating promise, but not one that is meant.
    add('await', node, `${ts.isExpressionStatement(node.parent) ? 'void ' : ''}${text(node.expression)}`);
  }
  if (ts.isIfStatement(node)) {
    if (!node.elseStatement && leaves(node.thenStatement)) add('guard', node, ';');
    for (const forced of ['true', 'false']) add('condition', node, forced, rangeOf(file, node.expression));
  }
  if (ts.isConditionalExpression(node)) {
    for (const forced of ['true', 'false']) add('condition', node, forced, rangeOf(file, node.condition));
  }
  if (ts.isArrayLiteralExpression(node) && !isOfQuery(node)) removals(file, node.elements, 'element', node, add);
  if (ts.isObjectLiteralExpression(node)) {
    removals(
      file,
      node.properties,
      'property',
      node,
      add,
      (property) => !ts.isMethodDeclaration(property) && !isDescriptive(property) && !isOfQuery(property),
    );
  }
  if (ts.isCaseClause(node)) add('case', node, '');
  if (node.kind === ts.SyntaxKind.TrueKeyword) add('literal', node, 'false');
  if (node.kind === ts.SyntaxKind.FalseKeyword) add('literal', node, 'true');
  if ((ts.isNumericLiteral(node) || ts.isBigIntLiteral(node)) && isBorder(node)) {
    const n = ts.isBigIntLiteral(node) ? 'n' : '';
    const value = Number(node.text.replace(/n$/, ''));
    if (Number.isSafeInteger(value)) {
      add('literal', node, `${value + 1}${n}`);
      if (value > 0) add('literal', node, `${value - 1}${n}`);
    }
  }
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node)) {
    const sql = textIn(file, node);
    if (!looksLikeSql(sql)) return;
    const first = node.getStart(file) + 1;
    for (const { start, before, after } of sqlChanges(sql)) {
      add('sql', node, after, { start: first + start, end: first + start + before.length });
    }
  }
};

/** The text between the quotes, with blanks in the place of what a template fills in. */
const textIn = (file: ts.SourceFile, node: ts.StringLiteral | ts.TemplateLiteral): string => {
  const { start, end } = rangeOf(file, node);
  let text = file.text.slice(start + 1, end - 1);
  for (const span of ts.isTemplateExpression(node) ? node.templateSpans : []) {
    const from = span.expression.getFullStart() - 2 - start - 1;
    const to = span.literal.getStart(file) + 1 - start - 1;
    text = text.slice(0, from) + ' '.repeat(to - from) + text.slice(to);
  }
  return text;
};

/** Whether the node is a part of a query that any run needs, or the name of a prepared statement. */
const isOfQuery = (node: ts.Node): boolean => {
  const { parent } = node;
  if (ts.isCallExpression(parent)) return /(^|\.)query$/.test(parent.expression.getText());
  if (ts.isPropertyAssignment(parent)) return parent.name.getText() === 'values';
  return (
    ts.isPropertyAssignment(node) &&
    ts.isObjectLiteralExpression(parent) &&
    QUERY.has(node.name.getText()) &&
    parent.properties.some((property) => property.name?.getText() === 'text')
  );
};

const isDescriptive = (property: ts.ObjectLiteralElementLike): boolean =>
  DESCRIPTIVE.has(property.name?.getText() ?? '');

const isBorder = (node: ts.Node): boolean => {
  const parent = ts.isPrefixUnaryExpression(node.parent) ? node.parent.parent : node.parent;
  if (!ts.isBinaryExpression(parent)) return false;
  // A constant such as `5 * 60_000` is a time or a size: a test of its last unit would test nothing that anyone needs.
  if (isConstant(parent)) return false;
  return COMPARES_OR_COUNTS.has(SWAPPED[parent.operatorToken.kind]?.[0] ?? '');
};

const isConstant = (node: ts.Node): boolean =>
  ts.isLiteralExpression(node) || (ts.isBinaryExpression(node) && isConstant(node.left) && isConstant(node.right));

/** Leaves out each of the parts of a list, with the comma. */
const removals = <T extends ts.Node>(
  file: ts.SourceFile,
  parts: ts.NodeArray<T>,
  operator: string,
  list: ts.Node,
  add: Add,
  isTried: (part: T) => boolean = () => true,
): void => {
  for (const [index, part] of parts.entries()) {
    if (!isTried(part) || ts.isOmittedExpression(part)) continue;
    const next = parts[index + 1];
    const { start, end } = rangeOf(file, part);
    const comma = next ? file.text.slice(end, next.getStart(file)).indexOf(',') : -1;
    add(operator, list, '', { start, end: comma < 0 ? end : end + comma + 1 });
  }
};

const leaves = (statement: ts.Statement): boolean => {
  const last = ts.isBlock(statement) ? statement.statements.at(-1) : statement;
  return (
    last !== undefined &&
    (ts.isReturnStatement(last) ||
      ts.isThrowStatement(last) ||
      ts.isContinueStatement(last) ||
      ts.isBreakStatement(last))
  );
};

const isLeftAlone = (node: ts.Node): boolean =>
  ts.isTypeNode(node) ||
  ts.isImportDeclaration(node) ||
  ts.isExportDeclaration(node) ||
  ts.isInterfaceDeclaration(node) ||
  ts.isTypeAliasDeclaration(node) ||
  (ts.isNewExpression(node) && /(Error|Failure|Unavailable)$/.test(node.expression.getText())) ||
  (ts.isExpressionStatement(node) && isLogLine(node.expression)) ||
  (ts.isCallExpression(node) && isLogLine(node)) ||
  (ts.isPropertyAssignment(node) && isDescriptive(node)) ||
  // The arguments of `schema.meta(...)`, not the schema before it.
  (!ts.isSourceFile(node) &&
    ts.isCallExpression(node.parent) &&
    node.parent.expression !== node &&
    isDescription(node.parent.expression));

const isDescription = (callee: ts.Expression): boolean =>
  ts.isPropertyAccessExpression(callee) && DESCRIBES.has(callee.name.text);

const isLogLine = (node: ts.Expression): boolean =>
  ts.isCallExpression(node) && /(^|\.)(log|logger|console)(\?|!)?\.\w+$/.test(node.expression.getText());

/** The narrowest place where the file can record that a test reaches the node. */
const probeFor = (file: ts.SourceFile, node: ts.Node): Probe => {
  for (let at = node; ; at = at.parent) {
    const { parent } = at;
    if (ts.isStatement(at) && isBody(parent)) return { kind: 'statement', at: at.getStart(file) };
    if (ts.isArrowFunction(parent) && parent.body === at) return { kind: 'expression', ...rangeOf(file, at) };
    if ((ts.isParameter(parent) || ts.isPropertyDeclaration(parent)) && parent.initializer === at)
      return { kind: 'expression', ...rangeOf(file, at) };
    if (ts.isConditionalExpression(parent) && parent.condition !== at)
      return { kind: 'expression', ...rangeOf(file, at) };
  }
};

const isBody = (node: ts.Node): boolean =>
  ts.isBlock(node) || ts.isSourceFile(node) || ts.isCaseOrDefaultClause(node) || ts.isModuleBlock(node);

const rangeOf = (file: ts.SourceFile, node: ts.Node): Range => ({ start: node.getStart(file), end: node.getEnd() });

const scriptKind = (path: string): ts.ScriptKind => (path.endsWith('.tsx') ? ts.ScriptKind.TSX : ts.ScriptKind.TS);
