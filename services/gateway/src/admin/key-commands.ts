import type { AdminCommand, RunWith } from '@cpg/platform/commands';
import { rotateKey } from '../api/api-keys/key-changes.ts';
import { byOperator } from '../audit/record-change.ts';
import { type ApiKey, SCOPES } from '../door/keys/api-key.ts';
import { MERCHANT } from './command.ts';
import {
  createKey,
  type CreateKeyArguments,
  type KeyAdmin,
  type KeyChanges,
  keyTable,
  kidIn,
  parseDuration,
  revokeKey,
  updateKey,
} from './keys.ts';

const SCOPE_WIDTH = Math.max(...Object.keys(SCOPES).map((scope) => scope.length));
const SCOPE_LIST = Object.entries(SCOPES)
  .map(([scope, allows]) => `  ${scope.padEnd(SCOPE_WIDTH)}  ${allows}`)
  .join('\n');

/** Adds the commands on API keys. */
export const addKeyCommands = (program: AdminCommand, withAdmin: RunWith<KeyAdmin>): void => {
  const keys = program.command('keys').description('API keys of merchants');
  const KID = ['<kid>', 'the first 12 characters of the key after ak_live_ or ak_sandbox_, or the whole key'] as const;
  const LABEL = ['--label <text>', 'a name to tell keys apart, such as the program that uses it'] as const;

  keys
    .command('create')
    .description('create an API key, and print it once')
    .argument(...MERCHANT)
    .requiredOption('--scopes <list>', 'what the key may do: scopes separated by commas, or all')
    .option('--allow-ip <list>', 'addresses or CIDR blocks that may use it, separated by commas; by default all')
    .option('--expires <time>', 'until when it works, such as 2027-01-31T12:00:00Z; by default without end')
    .option(...LABEL)
    .examples('keys create mer_01J8… --scopes orders:self:create,orders:self:read --label "Shop backend"')
    .addHelpText('after', `\nScopes:\n${SCOPE_LIST}`)
    .runs((merchantId: string, options: Omit<CreateKeyArguments, 'merchantId'>) =>
      withAdmin(async (admin) => formatKey(await createKey(admin, { merchantId, ...options }))),
    );
  keys
    .command('list')
    .description('list the API keys of a merchant')
    .argument(...MERCHANT)
    .examples('keys list mer_01J8…')
    .runs((merchant: string) => withAdmin((admin) => keyTable(admin, merchant)));
  keys
    .command('update')
    .description('replace the scopes, the IP list or the label of a key; it takes effect within seconds')
    .argument(...KID)
    .option('--scopes <list>', 'all scopes that it shall have, separated by commas, or all')
    .option('--allow-ip <list>', 'all addresses and CIDR blocks that may use it, separated by commas, or anywhere')
    .option(...LABEL)
    .examples(
      'keys update Ab3dEf6hIj9k --scopes orders:self:create,orders:self:read',
      'keys update Ab3dEf6hIj9k --allow-ip 203.0.113.7,198.51.100.0/24',
    )
    .addHelpText('after', `\nScopes:\n${SCOPE_LIST}`)
    .runs((key: string, changes: KeyChanges) =>
      withAdmin(async (admin) => {
        const { kid, scopes, allowed_ips: ips } = await updateKey(admin, kidIn(key), changes);
        return `key ${kid} works from ${ips.join(', ') || 'anywhere'} with the scopes ${scopes.join(', ')}`;
      }),
    );
  keys
    .command('rotate')
    .description('create a successor with the same permissions; the old key stays valid for the overlap')
    .argument(...KID)
    .option('--overlap <duration>', 'like 30m, 24h or 7d', '24h')
    .examples('keys rotate Ab3dEf6hIj9k --overlap 7d')
    .runs((key: string, { overlap }: { overlap: string }) =>
      withAdmin(async ({ pool, pepper, now }) => {
        const kid = kidIn(key);
        const successor = await rotateKey(pool, kid, {
          overlapMs: parseDuration(overlap),
          pepper,
          change: byOperator(now()),
        });
        return `${formatKey(successor)}\nkey ${kid} stays valid for ${overlap}`;
      }),
    );
  keys
    .command('revoke')
    .description('revoke an API key, for good; it takes effect within seconds')
    .argument(...KID)
    .examples('keys revoke Ab3dEf6hIj9k')
    .runs((key: string) =>
      withAdmin(async (admin) => {
        const kid = kidIn(key);
        await revokeKey(admin, kid);
        return `key ${kid} is revoked`;
      }),
    );
};

const formatKey = (key: ApiKey): string => `${key.text}\nkid ${key.kid}. The key is shown only once: store it safely.`;
