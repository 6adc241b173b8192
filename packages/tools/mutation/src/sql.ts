/** A change inside a piece of text, by its position there. */
export interface TextChange {
  readonly start: number;
  readonly before: string;
  readonly after: string;
}

const STARTS_LIKE_SQL =
  /^\s*(select|insert into|update|delete from|with|merge into|from|where|and|or|on conflict|order by|exists|not exists|union|left join|join|lock|call|do)\b/;
const CLAUSE =
  /\b(select|insert|update|delete|set|where|on|having|when|values|returning|from|and|or|using|case|end)\b|[()]/g;
const OPERATOR = /(?<![<>=!:|&@#~-])(?:<=|>=|<>|=|<|>)(?![<>=|&@#~])|\b(?:and|or)\b|\bis (?:not )?null\b/g;

const CHANGED: Readonly<Record<string, readonly string[]>> = {
  '=': ['<>'],
  '<>': ['='],
  '<': ['<=', '>'],
  '<=': ['<', '>'],
  '>': ['>=', '<'],
  '>=': ['>', '<'],
  and: ['or'],
  or: ['and'],
  'is null': ['is not null'],
  'is not null': ['is null'],
};

/** Whether a string or the beginning of a template is a piece of an SQL statement: its keywords are in small
 *  letters. */
export const looksLikeSql = (text: string): boolean => STARTS_LIKE_SQL.test(text) && /\s|\(/.test(text.trim());

/** The comparisons and connectives of an SQL text, each changed. An assignment (`set a = 1`) and the `and` of
 *  `between` stay: the result would be no valid statement, which any test notices. */
export const sqlChanges = (text: string): TextChange[] => {
  const code = withoutStringsAndComments(text);
  return [...code.matchAll(OPERATOR)].flatMap((match) => {
    const before = match[0];
    const head = code.slice(0, match.index);
    if (before === '=' && isAssignment(head)) return [];
    if (before === 'and' && /\bbetween\b(?:(?!\band\b)[^])*$/.test(head)) return [];
    if (before === 'or' && /\bcreate\s+$/.test(head)) return [];
    return (CHANGED[before] ?? []).map((after) => ({ start: match.index, before, after }));
  });
};

/** Whether the `=` after this text sets a column: the last keyword outside of what has ended is `set`. */
const isAssignment = (head: string): boolean => {
  const outer: string[] = [];
  let last = '';
  for (const [token] of head.matchAll(CLAUSE)) {
    if (token === '(' || token === 'case') {
      outer.push(last);
      last = '';
    } else if (token === ')' || token === 'end') last = outer.pop() ?? '';
    else last = token;
  }
  return last === 'set';
};

/** Blanks of the same length in the place of strings and comments, so that positions stay. */
const withoutStringsAndComments = (text: string): string =>
  text.replace(/'[^']*'|--[^\n]*/g, (part) => ' '.repeat(part.length));
