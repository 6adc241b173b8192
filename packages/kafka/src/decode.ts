import { z } from 'zod';

export type Decoded<T> = { readonly ok: true; readonly message: T } | { readonly ok: false; readonly reason: string };

export interface DecodeOptions<T> {
  readonly message: z.ZodType<T>;
  readonly types?: readonly string[];
}

/** Bytes of a record as the message a schema describes, or the reason why they are not one. A message whose type is not among `types`, when
 *  they are given, is passed over. */
export const decode = <T>({ message, types }: DecodeOptions<T>, value: Buffer | null): Decoded<T> | 'passed over' => {
  if (value === null) return { ok: false, reason: 'the record has no value' };
  try {
    const json: unknown = JSON.parse(value.toString('utf8'));
    if (types && hasType(json) && !types.includes(json.type)) return 'passed over';
    const parsed = message.safeParse(json);
    return parsed.success ? { ok: true, message: parsed.data } : { ok: false, reason: z.prettifyError(parsed.error) };
  } catch (error) {
    return { ok: false, reason: `not JSON: ${(error as Error).message}` };
  }
};

const hasType = (json: unknown): json is { type: string } =>
  typeof json === 'object' && json !== null && typeof (json as { type?: unknown }).type === 'string';
