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
