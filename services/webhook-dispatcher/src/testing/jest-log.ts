import { createLogger } from '@cpg/runtime';

export const log = createLogger({ name: 'test', level: 'silent' });
