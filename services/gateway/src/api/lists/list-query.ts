import { requestText } from '@cpg/contracts';
import { z } from 'zod';

const numberFrom = (min: number, max: number) => {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.preprocess(
    (text) => (typeof text === 'string' && /^\d{1,9}$/.test(text) ? Number(text) : text),
    z.int({ error }).min(min, { error }).max(max, { error }),
  );
};

/** A query parameter from 1 to `max`. Its description names the default: the clients of some generators always send a
 *  `default`, and a request cannot have a `cursor` and a page. */
export const wholeNumber = (max: number, defaultValue: number) => numberFrom(1, max).default(defaultValue);

/** A query parameter with a status of HTTP. */
export const StatusCode = numberFrom(100, 599);

/** A query parameter that is `true` or `false`. */
export const booleanParameter = z.preprocess(
  (text) => (text === 'true' ? true : text === 'false' ? false : text),
  z.boolean({ error: 'must be true or false' }),
);

// Seconds, fraction and the form of the offset vary.
const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d)(?::(\d\d)(?:\.(\d+))?)?(?:Z|([+-]\d\d)(?::?(\d\d))?)$/;

const RFC_3339 = z.iso.datetime({ offset: true });

/** An ISO 8601 instant with a timezone, as libraries print it: `Z`, `+01:00`, `+0100` or `+01`; seconds and fractions
 *  are optional. `round` decides what becomes of a part of a millisecond. */
const instant = (round: 'down' | 'up') =>
  z
    .string()
    .meta({ format: 'date-time' })
    .transform((text, context): Date => {
      const [, upToMinute, seconds = '00', fraction = '', offsetHours, offsetMinutes = '00'] = TIME.exec(text) ?? [];
      const milliseconds = fraction.padEnd(3, '0').slice(0, 3);
      const offset = offsetHours === undefined ? 'Z' : `${offsetHours}:${offsetMinutes}`;
      // Also for text without this form: then it fails the check that follows.
      const exact = `${upToMinute}:${seconds}.${milliseconds}${offset}`;
      if (!RFC_3339.safeParse(exact).success) {
        context.addIssue({ code: 'custom', message: timeFault(text) });
        return z.NEVER;
      }
      const hasPartOfMs = /[1-9]/.test(fraction.slice(3));
      return new Date(Date.parse(exact) + (hasPartOfMs && round === 'up' ? 1 : 0));
    });

const DATE = /^\d{4}-\d\d-\d\d/;
const WITHOUT_ZONE = /^T\d\d:\d\d(:\d\d(\.\d{1,9})?)?$/;
const SPACE_FOR_PLUS = /^T[\d:.]+ \d\d:?(\d\d)?$/;

/** What is wrong with a text that is no instant. */
const timeFault = (text: string): string => {
  const date = DATE.exec(text)?.[0] ?? '';
  const time = text.slice(date.length);
  if (date === '') return 'must be ISO 8601 with a timezone, like 2026-01-31T12:00:00Z';
  if (!z.iso.date().safeParse(date).success) return `has a day that does not exist: ${date}`;
  if (time === '') return `needs a time and a timezone, like ${date}T00:00:00Z`;
  if (WITHOUT_ZONE.test(time)) return `needs a timezone, like ${text}Z for UTC`;
  if (SPACE_FOR_PLUS.test(time)) return 'has a space in the place of the + of its timezone: write + as %2B in a URL';
  return `must be ISO 8601 with a timezone, like ${date}T12:00:00Z`;
};

/** An instant, or the end of a time range. */
export const Instant = instant('down');

/** The start of a time range. Recorded times have whole milliseconds, so the first that can match is the next one. */
export const RangeStart = instant('up');

/** A page by number reads all rows before it. A page by cursor does not, and has no limit. */
export const MAX_PAGE = 1000;

export const SortOrder = z.enum(['asc', 'desc']);

/** A parameter that has one of `values`, or is repeated for several. Routes name it in `repeatable`. */
export const oneOrMore = <T extends string>(values: z.ZodType<T> & { readonly options: readonly T[] }) => {
  const names = values.options.map((value) => JSON.stringify(value)).join(', ');
  return z.preprocess((given, context) => {
    const all = [...new Set(Array.isArray(given) ? given : [given])] as unknown[];
    if (all.every((one) => values.safeParse(one).success)) return all;
    const message = `must be one of ${names}: repeat the parameter for several`;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  }, z.array(values).min(1));
};

/** The query parameters that all lists have. `startOf` refuses a cursor together with a page above 1. */
export const ListQuery = z.strictObject({
  page: wholeNumber(MAX_PAGE, 1).describe('Page number, starting at 1. By default 1. A page past the end is empty.'),
  cursor: requestText(1, 256)
    .optional()
    .describe(
      'Returns the page after the one with this `next_cursor`, instead of a `page`. Keep the filters and the sort order; `limit` may change.',
    ),
  limit: wholeNumber(100, 10).describe('Maximum number of items per page. By default 10.'),
  sort: SortOrder.default('desc').describe(
    'Sort order by creation time: `asc` is oldest first, `desc` is newest first. By default `desc`.',
  ),
  from_date: RangeStart.optional().describe('Only items created at or after this time.'),
  to_date: Instant.optional().describe('Only items created at or before this time.'),
});
export type ListQuery = z.infer<typeof ListQuery>;

/** The query parameters of a time that items of a list have, such as `updated`. `happened` completes a sentence. */
export const timeRange = <N extends string>(name: N, items: string, happened: string) =>
  ({
    [`${name}_from`]: RangeStart.optional().describe(
      `Only ${items} that ${happened} at or after this time. The list is still sorted by creation time.`,
    ),
    [`${name}_to`]: Instant.optional().describe(`Only ${items} that ${happened} at or before this time.`),
  }) as Record<`${N}_from`, z.ZodOptional<typeof RangeStart>> & Record<`${N}_to`, z.ZodOptional<typeof Instant>>;

/** The ends of ranges of times, by the names of their parameters. */
export type TimeRanges<N extends string> = { readonly [K in `${N}_from` | `${N}_to`]?: Date | undefined };
