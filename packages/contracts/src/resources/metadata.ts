import { createHash } from 'node:crypto';
import { z } from 'zod';
import { withExample } from '../example.ts';
import { requestText } from './text.ts';

export const METADATA_MAX_BYTES = 16 * 1024;

/** The merchant's own data: a JSON object. */
export const Metadata = withExample(z.record(z.string(), z.json()), { table: 'B7' });
export type Metadata = z.infer<typeof Metadata>;

/** Metadata in a request: at most 16 KiB. */
export const MetadataDto = withExample(
  z.record(requestText(), z.json()).refine((value) => Buffer.byteLength(JSON.stringify(value)) <= METADATA_MAX_BYTES, {
    error: 'must be at most 16 KiB as JSON',
  }),
  { table: 'B7' },
);

/** How many keys of an order its lists can be filtered by: the first ones. */
export const MAX_FILTERED_KEYS = 50;

/** Stands for a key of metadata and its value, as text, where lists are filtered by them. */
export const metadataHash = (key: string, value: string): string =>
  createHash('sha256')
    .update(JSON.stringify([key, value]))
    .digest('base64url')
    .slice(0, 22);

/** The hashes of the first keys whose values are text, numbers or booleans. */
export const metadataHashes = (metadata: Metadata): string[] =>
  Object.entries(metadata)
    .flatMap(([key, value]) => {
      const text = comparedText(value);
      return text === undefined ? [] : [metadataHash(key, text)];
    })
    .slice(0, MAX_FILTERED_KEYS);

/** Whether metadata has these values, written as text, at these keys. */
export const hasMetadata = (metadata: Metadata, wanted: Readonly<Record<string, string>>): boolean =>
  Object.entries(wanted).every(([key, text]) => Object.hasOwn(metadata, key) && comparedText(metadata[key]) === text);

/** A value as filters compare it: text, or a number or boolean as JSON writes it. Undefined for other values. */
const comparedText = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
