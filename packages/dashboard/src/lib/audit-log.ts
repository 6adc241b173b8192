export interface Change {
  readonly field: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

export interface Words {
  readonly fields: Readonly<Record<string, string>>;
  readonly yes: string;
  readonly no: string;
  readonly nothing: string;
  /** Of a field whose values are not recorded. */
  readonly unrecorded: (field: string) => string;
}

/** A change in words, such as `role: viewer → support`. Of a list, what was added and what was removed. */
export const changeInWords = (change: Change, words: Words): string => {
  const { field, before, after } = change;
  const name = Object.hasOwn(words.fields, field) ? words.fields[field]! : field;
  if (!('before' in change) && !('after' in change)) return words.unrecorded(name);
  if (isTexts(before) && isTexts(after)) {
    const added = after.filter((text) => !before.includes(text)).map((text) => `+${text}`);
    const removed = before.filter((text) => !after.includes(text)).map((text) => `−${text}`);
    if (added.length + removed.length > 0) return `${name}: ${[...added, ...removed].join(', ')}`;
  }
  const is = valueInWords(after, words);
  return isNothing(before) ? `${name}: ${is}` : `${name}: ${valueInWords(before, words)} → ${is}`;
};

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

const isNothing = (value: unknown): boolean => value === undefined || value === null;

const valueInWords = (value: unknown, words: Words): string => {
  if (isNothing(value) || (Array.isArray(value) && value.length === 0)) return words.nothing;
  if (typeof value === 'boolean') return value ? words.yes : words.no;
  if (isTexts(value)) return value.join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
};

/** The page of the dashboard that shows what changed. */
export const pageOfSubject = (type: string, subject: string): string => {
  if (subject.startsWith('key_')) return '/api-keys';
  if (subject.startsWith('usr_')) return '/settings/users';
  if (subject.startsWith('whk_')) return `/webhooks/${subject}`;
  return type === 'PaymentPageChanged' ? '/settings/payment-page' : '/settings/profile';
};
