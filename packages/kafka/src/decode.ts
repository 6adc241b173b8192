import { z } from 'zod';

export type Decoded<T> = { readonly ok: true; readonly message: T } | { readonly ok: false; readonly reason: string };

/** Bytes of a record as the message a schema describes, or the reason why they are not one. */
export const decode = <T>(schema: z.ZodType<T>, value: Buffer | null): Decoded<T> => {
  if (value === null) return { ok: false, reason: 'the record has no value' };
  try {
    const parsed = schema.safeParse(JSON.parse(value.toString('utf8')));
    return parsed.success ? { ok: true, message: parsed.data } : { ok: false, reason: z.prettifyError(parsed.error) };
  } catch (error) {
    return { ok: false, reason: `not JSON: ${(error as Error).message}` };
  }
};
