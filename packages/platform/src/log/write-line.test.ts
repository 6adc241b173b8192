import fc from 'fast-check';
import { printable } from './write-line.ts';

test.each([
  ['clears the screen', '\u001b[2Jx', '\\u001b[2Jx'],
  ['sets the title', '\u001b]0;t\u0007', '\\u001b]0;t\\u0007'],
  ['uses the C1 form of an escape', '\u009b31mred', '\\u009b31mred'],
  ['turns the direction', 'a\u202eb\u2066c\u200fd', 'a\\u202eb\\u2066c\\u200fd'],
  ['returns to the start of the line', 'paid\rlost', 'paid\\u000dlost'],
  ['is a line, with a tab, accents and emoji', 'é\t日本 🎉\nnext', 'é\t日本 🎉\nnext'],
])('text that %s is printed as characters', (_case, text, printed) => expect(printable(text)).toBe(printed));

test('JSON stays the same value', () =>
  fc.assert(
    // JSON text, not a value: JSON has no -0.
    fc.property(fc.json(), (text) => expect(JSON.parse(printable(text))).toEqual(JSON.parse(text))),
  ));
