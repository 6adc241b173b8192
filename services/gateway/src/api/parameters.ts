import { z } from 'zod';

/** The path parameter `id`. The handler validates its form: a malformed id is 404, like an unknown one. */
export const pathId = (kind: string, prefix: string) =>
  z.object({ id: z.string().describe(`The ${kind} id: \`${prefix}_\` and a ULID.`) });

/** The body of operations without parameters: absent, or an empty object. */
export const NoBody = z.strictObject({}).nullish();
