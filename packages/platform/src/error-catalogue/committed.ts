import { join } from 'node:path';

/** The committed catalogue. */
export const CATALOGUE_PATH = join(import.meta.dirname, '../../../../docs/errors.md');
