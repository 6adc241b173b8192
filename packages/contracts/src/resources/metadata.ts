import { z } from 'zod';
import { requestText } from './text.ts';

export const METADATA_MAX_BYTES = 16 * 1024;

/** The merchant's own data: a JSON object. */
export const Metadata = z.record(z.string(), z.json());
export type Metadata = z.infer<typeof Metadata>;

/** Metadata in a request: at most 16 KiB. */
export const MetadataDto = z
  .record(requestText(), z.json())
  .refine((value) => Buffer.byteLength(JSON.stringify(value)) <= METADATA_MAX_BYTES, {
    error: 'must be at most 16 KiB as JSON',
  });
