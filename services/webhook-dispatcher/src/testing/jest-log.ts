import { createLogger } from '@cpg/platform';

export const log = createLogger({ name: 'test', level: 'silent' });
