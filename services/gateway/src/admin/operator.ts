import { CommaSeparatedList, createLogger, newId, wallClock } from '@cpg/platform';
import { createPool } from '@cpg/platform/postgres';
import { createKey, type CreateKeyArguments } from './keys.ts';
import { createMerchant } from './merchants.ts';
import { userChangeByOperator } from './user-commands.ts';
import { pathOfLink } from '../identity/sign-in-links.ts';
import { createUser, type UserSpec } from '../api/users/user-changes.ts';

export interface OperatorOptions {
  readonly databaseUrl: string;
  /** The value of API_KEY_PEPPER. */
  readonly pepper: string;
}

/** The commands `merchants create`, `keys create` and `users create` as functions, for programs that set up a sandbox.
 *  `close` ends the connections. */
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
    /** Returns the path of the user's sign-in link. */
    createUser: async (user: Omit<UserSpec, 'id'>) =>
      pathOfLink(await createUser(pool, { id: newId('user'), ...user }, userChangeByOperator(admin.now()))),
    close: () => pool.end(),
  };
};
