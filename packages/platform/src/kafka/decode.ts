import { z } from 'zod';

export type Decoded<T> = { readonly ok: true; readonly message: T } | { readonly ok: false; readonly reason: string };

export interface DecodeOptions<T> {
  readonly message: z.ZodType<T>;
  readonly types?: readonly string[];
}

/** Parses and validates the value of a record. Returns the reason when it is invalid, or 'skipped' when `types` does
 *  not contain its type. */
export const decode = <T>({ message, types }: DecodeOptions<T>, value: Buffer | null): Decoded<T> | 'skipped' => {
  if (value === null) return { ok: false, reason: 'the record has no value' };
  try {
    const json: unknown = JSON.parse(value.toString('utf8'));
    if (types && hasType(json) && !types.includes(json.type)) return 'skipped';
    const parsed = message.safeParse(json);
    return parsed.success ? { ok: true, message: parsed.data } : { ok: false, reason: z.prettifyError(parsed.error) };
  } catch (error) {
    return { ok: false, reason: `not JSON: ${(error as Error).message}` };
  }
};

const hasType = (json: unknown): json is { type: string } =>
  typeof json === 'object' && json !== null && typeof (json as { type?: unknown }).type === 'string';
