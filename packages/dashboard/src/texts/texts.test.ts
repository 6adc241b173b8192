import { en } from './en.ts';
import { es } from './es.ts';
import { pt } from './pt.ts';

/** The names of all texts, as paths. */
const namesIn = (texts: object, path = ''): string[] =>
  Object.entries(texts).flatMap(([name, value]: [string, unknown]) =>
    typeof value === 'object' && value !== null ? namesIn(value, `${path}${name}.`) : [`${path}${name}`],
  );

test.each([
  ['Spanish', es],
  ['Portuguese', pt],
])('%s has every text', (_, texts) => expect(namesIn(texts).sort()).toEqual(namesIn(en).sort()));

test.each([
  ['English', en],
  ['Spanish', es],
  ['Portuguese', pt],
])('every sentence of a history in %s works without facts', (_, { history }) => {
  for (const [type, sentence] of Object.entries(history.sentences)) {
    const text = sentence(
      {},
      (amount) => amount ?? '',
      (time) => time ?? '',
    );
    expect([type, text]).toEqual([type, expect.stringMatching(/^[^{}]*\.$/)]);
    expect(text).not.toContain('undefined');
  }
});
