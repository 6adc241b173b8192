import { join } from 'node:path';

export const COMMITTED = join(import.meta.dirname, '../../../../docs/errors.md');
