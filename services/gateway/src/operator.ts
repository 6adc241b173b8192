import { createPool } from '@cpg/postgres';
import { createLogger } from '@cpg/runtime';
import { createKey } from './admin/keys.ts';
import { createMerchant } from './admin/merchants.ts';

export interface OperatorOptions {
  readonly databaseUrl: string;
  readonly pepper: string;
}

/** What the commands `merchants create` and `keys create` do, for programs that prepare a sandbox. `close` ends its connections. */
export const openOperator = ({ databaseUrl, pepper }: OperatorOptions) => {
  const log = createLogger({ name: 'operator', level: 'warn' });
  const pool = createPool({ url: databaseUrl, name: 'operator', max: 1, log });
  const admin = { pool, pepper, environment: 'sandbox', now: () => new Date() } as const;
  return {
    createMerchant: (definition: unknown) => createMerchant(pool, definition, admin.now()),
    createKey: (wanted: Parameters<typeof createKey>[1]) => createKey(admin, wanted),
    close: () => pool.end(),
  };
};
