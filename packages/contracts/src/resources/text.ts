import { z } from 'zod';

// eslint-disable-next-line no-control-regex -- it is the character to refuse
const WITHOUT_NUL = /^[^\u0000]*$/u;

/** Text in a request, without NUL: PostgreSQL cannot store it. Lengths count characters (code points). */
export const requestText = (minLength = 0, maxLength = Infinity): z.ZodString => {
  const text = z.string().regex(WITHOUT_NUL, { error: 'must not contain NUL characters' });
  const bounded = maxLength === Infinity ? text : text.max(maxLength);
  return minLength === 0 ? bounded : bounded.min(minLength);
};
