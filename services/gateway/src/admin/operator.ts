import { CommaSeparatedList, createLogger, wallClock } from '@cpg/platform';
import { createPool } from '@cpg/platform/postgres';
import { createKey, type CreateKeyArguments } from './keys.ts';
import { createMerchant } from './merchants.ts';

export interface OperatorOptions {
  readonly databaseUrl: string;
  /** The value of API_KEY_PEPPER. */
  readonly pepper: string;
}

/** The commands `merchants create` and `keys create` as functions, for programs that set up a sandbox. `close` ends the
 *  connections. */
export const openOperator = ({ databaseUrl, pepper }: OperatorOptions) => {
  const log = createLogger({ name: 'operator', level: 'warn' });
  const pool = createPool({ url: databaseUrl, name: 'operator', max: 1, log });
  const admin = {
    pool,
    pepper: CommaSeparatedList.parse(pepper)[0]!,
    environment: 'sandbox',
    now: wallClock,
  } as const;
  return {
    createMerchant: (definition: unknown) => createMerchant(pool, definition, admin.now()),
    createKey: (key: CreateKeyArguments) => createKey(admin, key),
    close: () => pool.end(),
  };
};
