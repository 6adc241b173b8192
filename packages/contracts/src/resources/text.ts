import { z } from 'zod';

// eslint-disable-next-line no-control-regex -- it is the character to refuse
const WITHOUT_NUL = /^[^\u0000]*$/u;

/** Text in a request, without NUL: PostgreSQL cannot store it. Lengths count characters (code points). */
export const requestText = (minLength = 0, maxLength = Infinity): z.ZodString => {
  const text = z.string().regex(WITHOUT_NUL, { error: 'must not contain NUL characters' });
  const bounded = maxLength === Infinity ? text : text.max(maxLength);
  return minLength === 0 ? bounded : bounded.min(minLength);
};

// Spaces \p{Zs} and invisible characters may come before the first visible one. Controls \p{Cc}, like a line feed, and
// the separators of lines and paragraphs \p{Zl} and \p{Zp} may come nowhere. [\p{Cf}\p{Cs}\p{Co}\p{Cn}] is \p{C},
// invisible, without the controls.
const VISIBLE_LINE = /^[\p{Zs}\p{Cf}\p{Cs}\p{Co}\p{Cn}]*[^\p{Z}\p{C}][^\p{Cc}\p{Zl}\p{Zp}]*$/u;

/** One line of text in a request, which is shown to people. */
export const visibleLine = (maxLength: number): z.ZodString =>
  // `refine` keeps the expression out of the OpenAPI document: few languages know these classes of characters.
  requestText(1, maxLength).refine((text) => VISIBLE_LINE.test(text), { error: 'must be one line of visible text' });
