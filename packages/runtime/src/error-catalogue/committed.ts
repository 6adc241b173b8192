import { join } from 'node:path';

export const CATALOGUE_PATH = join(import.meta.dirname, '../../../../docs/errors.md');
