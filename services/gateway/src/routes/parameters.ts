import { z } from 'zod';

/** The id in a path. Its form is checked by the handler: a malformed id is 404, as an unknown one is. */
export const pathId = (kind: string, prefix: string) =>
  z.object({ id: z.string().describe(`The ${kind}: \`${prefix}_\` and a ULID.`) });

/** For operations that take none: no body, or an empty object. */
export const NoBody = z.strictObject({}).nullish();
